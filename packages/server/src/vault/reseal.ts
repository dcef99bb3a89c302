import { statement, type Database } from '../db/database.ts'
import { sealedColumns, type Place, type SealedColumn } from './sealed-columns.ts'
import type { Vault } from './vault.ts'

export interface ResealReport {
  /** The master key that seals: its id, in hex. */
  masterKey: string
  /** How many values this run has sealed anew. */
  resealed: number
  /** How many are still sealed under another master key. */
  remaining: number
  /** The kept answers of requests with an Idempotency-Key: only their callers can open them, so they stay as they are until they expire. */
  answers: { remaining: number; until: string | null }
}

/** Of one column at a time, so that no run takes long. */
const batch = 500

/**
 * Seals anew, under the first master key, what is sealed under another one, and says what is left: after a run that resealed nothing, what
 * no configured key opens. Each value changes only if nobody changed it meanwhile; a run that breaks off has done what it has done.
 */
export async function reseal(db: Database, vault: Vault): Promise<ResealReport> {
  const [current, ...old] = vault.keyIds
  let resealed = 0
  let remaining = 0
  for (const column of sealedColumns) {
    const { list, update, count } = statementsOf(column)
    const values = await db.query(list, [old, batch])
    const fresh = values.flatMap((value) => resealValue(vault, column, value))
    const updated = await db.query(update, [
      fresh.map(({ at }) => at),
      fresh.map((one) => one.old),
      fresh.map((one) => one.fresh),
    ])
    resealed += updated.length
    remaining += (await db.query(count, [current]))[0]!.count
  }
  const [answers] = await db.query(countAnswers, [current])
  return {
    masterKey: current!.toString('hex'),
    resealed,
    remaining,
    answers: { remaining: answers!.count, until: answers!.until },
  }
}

interface SealedValue {
  /** Where PostgreSQL keeps the row. */
  at: string
  tenant: string
  row: string
  sealed: Buffer
}

/** None for a value that does not open: it stays as it is, and counts as remaining. */
function resealValue(vault: Vault, { table, column }: SealedColumn, { at, tenant, row, sealed }: SealedValue) {
  const place = { table, column, tenant, row } as Place
  try {
    return [{ at, old: sealed, fresh: vault.seal(vault.open(sealed, place), place) }]
  } catch {
    return []
  }
}

// Byte 1 is the form's version, 2 to 5 the master key's id.
const keyIdOf = (column: string) => `substring(${column} from 2 for 4)`

function statementsOf({ table, column, tenant, row }: SealedColumn) {
  return {
    list: statement<SealedValue>(
      `reseal-list-${table}-${column}`,
      `select ctid::text as at, ${tenant} as tenant, ${row} as "row", ${column} as sealed from ${table}
        where ${keyIdOf(column)} = any($1::bytea[]) limit $2`,
    ),
    // ctid finds the row, and the old value that it is still that one: no two sealed values are equal.
    update: statement<{ done: true }>(
      `reseal-update-${table}-${column}`,
      `update ${table} t set ${column} = u.fresh
         from unnest($1::text[], $2::bytea[], $3::bytea[]) as u (at, old, fresh)
        where t.ctid = u.at::tid and t.${column} = u.old
       returning true as done`,
    ),
    count: statement<{ count: number }>(
      `reseal-count-${table}-${column}`,
      `select count(*) as count from ${table} where ${keyIdOf(column)} <> $1`,
    ),
  }
}

const countAnswers = statement<{ count: number; until: string | null }>(
  'reseal-count-answers',
  `select count(*) as count, max(expires_at) as until from idempotency_keys
    where ${keyIdOf('answer')} <> $1 and expires_at > now()`,
)
