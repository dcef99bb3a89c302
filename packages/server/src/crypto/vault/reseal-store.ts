import { statement } from '#db/database.ts'
import type { SealedColumn } from './sealed-columns.ts'

export interface SealedValue {
  /** Where PostgreSQL keeps the row. */
  at: string
  tenant: string
  row: string
  sealed: Buffer
}

// Byte 1 is the form's version, 2 to 5 the master key's id.
const versionOf = (column: string) => `substring(${column} from 1 for 1)`
const keyIdOf = (column: string) => `substring(${column} from 2 for 4)`

/** The statements that read, replace and count the values of one sealed column. */
export function resealStatements({ table, column, tenant, row }: SealedColumn) {
  return {
    list: statement<SealedValue>(
      `reseal-list-${table}-${column}`,
      `select ctid::text as at, ${tenant} as tenant, ${row} as "row", ${column} as sealed from ${table}
        where ctid > $3::tid and ${keyIdOf(column)} = any($1::bytea[])
          and (${keyIdOf(column)} <> $2 or ${versionOf(column)} = '\\x01')
        order by ctid limit $4`,
    ),
    // ctid finds the row, and the old value that it is still that one: no two sealed values are equal.
    update: statement<{ done: true }>(
      `reseal-update-${table}-${column}`,
      `update ${table} t set ${column} = u.fresh
         from unnest($1::text[], $2::bytea[], $3::bytea[]) as u (at, old, fresh)
        where t.ctid = u.at::tid and t.${column} = u.old
       returning true as done`,
    ),
    count: statement<{ id: string; count: number }>(
      `reseal-count-${table}-${column}`,
      `select encode(${keyIdOf(column)}, 'hex') as id, count(*) as count from ${table} where ${column} is not null group by 1`,
    ),
  }
}

/** The kept answers by the master key that seals them. */
export const countAnswersStatement = statement<{ id: string; count: number; until: string | null }>(
  'reseal-count-answers',
  `select encode(${keyIdOf('answer')}, 'hex') as id, count(*) as count, max(expires_at) as until from idempotency_keys
    where answer is not null and expires_at > now() group by 1`,
)
