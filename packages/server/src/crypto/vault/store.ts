import { statement, type Db } from '#db/database.ts'
import type { SealedColumn } from './sealed-columns.ts'

const findCheckStatement = statement<{ sealed: Buffer }>(
  'master-key-check-find',
  `select sealed from master_key_check where name = 'check'`,
)

/** The value that every start must be able to open; undefined: not written yet. */
export async function findCheckValue(db: Db): Promise<Buffer | undefined> {
  const [row] = await db.query(findCheckStatement, [])
  return row?.sealed
}

const insertCheckStatement = statement<never>(
  'master-key-check-insert',
  // On conflict: of two processes that start at once on a new database, one writes the value, and the other must
  // open it.
  `insert into master_key_check (name, sealed) values ('check', $1) on conflict on constraint master_key_check_pkey do nothing`,
)

export async function insertCheckValue(db: Db, sealed: Buffer): Promise<void> {
  await db.query(insertCheckStatement, [sealed])
}

interface Sealed {
  tenant: string
  row: string
  sealed: Buffer
}

/** Returns a value of the column, preferably one sealed under these master keys; undefined: the column is empty. */
export async function findSealedValue(db: Db, column: SealedColumn, keyIds: Buffer[]): Promise<Sealed | undefined> {
  const text = `select ${column.tenant} as tenant, ${column.row} as "row", ${column.column} as sealed from ${column.table}
     where ${column.column} is not null`
  const name = `sealed-value-${column.table}-${column.column}`
  const own = statement<Sealed>(`${name}-own`, `${text} and substring(${column.column} from 2 for 4) = any($1::bytea[]) limit 1`)
  const any = statement<Sealed>(`${name}-any`, `${text} limit 1`)
  const [row] = await db.query(own, [keyIds])
  return row ?? (await db.query(any, []))[0]
}
