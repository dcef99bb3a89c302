import { blockRanges } from '#db/block-ranges.ts'
import { statement, type Db } from '#db/database.ts'
import type { SealedColumn } from './sealed-columns.ts'

export interface SealedValue {
  /** Where PostgreSQL stores the row, or its key. */
  at: string
  tenant: string
  row: string
  sealed: Buffer
}

// Byte 1 is the form's version, 2 to 5 the master key's id.
const versionOf = (column: string) => `substring(${column} from 1 for 1)`
const keyIdOf = (column: string) => `substring(${column} from 2 for 4)`

/**
 * How the rows of a table are stepped through and found again, by SQL of their position. `at`, `after` and `before` are
 * text.
 *
 * By ctid, each part of the table is read once. Shards have the same ctids, so a table that may be spread is read in
 * the order of its primary key, as one range without an end.
 */
function positionOf(column: SealedColumn) {
  if (!('key' in column))
    return {
      at: 'ctid::text',
      order: 'ctid',
      isWithin: (after: string, before: string) => `ctid > ${after}::tid and ctid < ${before}::tid`,
      isAt: (at: string) => `t.ctid = ${at}::tid`,
    }
  const [tenant, collection, seq] = column.key
  const parts = (json: string) => `(${json}::json->>0) collate "C", (${json}::json->>1) collate "C", (${json}::json->>2)::bigint`
  return {
    at: `json_build_array(${column.key.join(', ')})::text`,
    order: column.key.join(', '),
    isWithin: (after: string, before: string) => `(${column.key.join(', ')}) > (${parts(after)}) and ${before}::text is null`,
    isAt: (at: string) => `(t.${tenant}, t.${collection}, t.${seq}) = (${parts(at)})`,
  }
}

/** The statements that read, replace and count the values of one sealed column. */
export function resealStatements(sealedColumn: SealedColumn) {
  const { table, column, tenant, row } = sealedColumn
  const position = positionOf(sealedColumn)
  return {
    list: statement<SealedValue>(
      `reseal-list-${table}-${column}`,
      `select ${position.at} as at, ${tenant} as tenant, ${row} as "row", ${column} as sealed from ${table}
        where ${position.isWithin('$3', '$5')} and ${keyIdOf(column)} = any($1::bytea[])
          and (${keyIdOf(column)} <> $2 or ${versionOf(column)} = '\\x01')
        order by ${position.order} limit $4`,
    ),
    // The old value ensures that it is still the same row: no two sealed values are equal.
    update: statement<{ done: true }>(
      `reseal-update-${table}-${column}`,
      `update ${table} t set ${column} = u.fresh
         from unnest($1::text[], $2::bytea[], $3::bytea[]) as u (at, old, fresh)
        where ${position.isAt('u.at')} and t.${column} = u.old
       returning true as done`,
    ),
    count: statement<{ id: string; count: number }>(
      `reseal-count-${table}-${column}`,
      `select encode(${keyIdOf(column)}, 'hex') as id, count(*) as count from ${table} where ${column} is not null group by 1`,
    ),
  }
}

/**
 * The values of one column that are not sealed under the current key, or in an older form, in pages of at most `limit`.
 * A value is in one page only, also if it stays as it is.
 */
export async function* listSealedValues(
  db: Db,
  column: SealedColumn,
  { keyIds, current, limit }: { keyIds: readonly Buffer[]; current: Buffer; limit: number },
): AsyncGenerator<SealedValue[]> {
  const { list } = resealStatements(column)
  const ranges = 'key' in column ? [{ after: '["","",-1]', before: null }] : blockRanges(db, column.table)
  for await (const { after, before } of ranges) {
    for (let from = after; ;) {
      const values = await db.query(list, [keyIds, current, from, limit, before])
      if (values.length > 0) yield values
      const last = values.at(-1)
      if (!last || values.length < limit) break
      from = last.at
    }
  }
}

/** The stored answers, by the master key that seals them. */
export const countAnswersStatement = statement<{ id: string; count: number; until: string | null }>(
  'reseal-count-answers',
  `select encode(${keyIdOf('answer')}, 'hex') as id, count(*) as count, max(expires_at) as until from idempotency_keys
    where answer is not null and expires_at > now() group by 1`,
)
