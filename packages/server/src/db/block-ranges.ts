import { statement, type Db } from './database.ts'

/** 2 MiB. PostgreSQL sorts what it finds in a range again for each page that is read from it. */
export const rangeBlocks = 256
/** After every row. */
const end = '(4294967295,0)'

const countStatement = statement<{ blocks: number }>(
  'count-blocks',
  `select (pg_relation_size($1::regclass) / current_setting('block_size')::integer)::float8 as blocks`,
)

/**
 * Ranges of the positions (ctid) of a table's rows, in their order and without the bounds themselves. An order over the
 * whole table would sort the whole table for each page: a scan of a range of positions has no order in PostgreSQL. The
 * last range is open, for rows that are stored at the end meanwhile. The table has no partitions and is not spread.
 */
export async function* blockRanges(db: Db, table: string): AsyncGenerator<{ after: string; before: string }> {
  for (let from = 0, blocks = 0; ; from += rangeBlocks) {
    const to = from + rangeBlocks
    // Again where the table ended: it may have grown.
    if (to >= blocks) blocks = (await db.query(countStatement, [table]))[0]?.blocks ?? 0
    const isLast = to >= blocks
    yield { after: `(${from},0)`, before: isLast ? end : `(${to},0)` }
    if (isLast) return
  }
}
