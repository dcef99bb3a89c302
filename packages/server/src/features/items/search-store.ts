import { likePattern } from '#db/like-pattern.ts'
import { statement, type Db } from '#db/database.ts'
import type { ScannedRow } from '#http/scanned-page.ts'
import type { Item } from './item.ts'
import type { ItemOrder } from './open-items-store.ts'

export interface ItemFilters {
  type?: string | undefined
  author?: string | undefined
  approved?: boolean | undefined
  archived?: boolean | undefined
  hero?: boolean | undefined
  access?: Item['access'] | undefined
  /** RFC 3339, UTC. from is included, to is not. */
  from?: string | undefined
  to?: string | undefined
  /** A part of the content's JSON or of the author. */
  text?: string | undefined
}

export interface FoundItem extends ScannedRow {
  seq: number
  bytes: number
}

/** The bounds of one call: so many items or, if their content is searched, so much content. */
const maxRows = 50_000
const maxSearchedBytes = 16 * 1024 * 1024

/** Branches of a case expression: a filter that is null makes its comparison null, which is not true. */
const conditions = `
           when type <> $5 or author is distinct from coalesce($6, author) then false
           when approved <> $7 or archived <> $8 or hero <> $9 or access <> $14 then false
           when created_at < $10::timestamptz or created_at >= $11::timestamptz then false
           when $12::text is null then true
           else content::text ilike $12 or coalesce(author ilike $13, false)`

/**
 * The scan follows the primary key and stops when the page is full. Filters have no indexes, because every added
 * item would pay for them. pg_column_size does not read values that are stored out of line.
 */
function searchStatement(order: ItemOrder) {
  const direction = order === 'newest' ? 'desc' : 'asc'
  return statement<FoundItem>(
    `items-search-${order}`,
    `select seq, octet_length(content::text) as bytes, matches, is_end from (
       select i.*,
         case
           when read_bytes - size > $16 then false
           ${conditions}
         end as matches,
         read_bytes - size <= $16 as is_read,
         place = $15 or (read_bytes > $16 and read_bytes - size <= $16) as is_end
       from (
         select i.*, row_number() over scan as place, sum(size) over scan as read_bytes from (
           select seq, type, content, author, approved, archived, hero, access, created_at,
             case when $12::text is null then 0 else pg_column_size(content) end as size
           from items
           where tenant_id = $1 and collection_id = $2 and seq > $3 and seq < $4
           order by seq ${direction} limit $15
         ) i
         window scan as (order by seq ${direction} rows unbounded preceding)
       ) i
     ) i
     where is_read and (matches or is_end)
     order by seq ${direction} limit $17`,
  )
}

const statements = { newest: searchStatement('newest'), oldest: searchStatement('oldest') }

/**
 * The single hero is found through its own index, however many items there are, and before anything else is
 * compared. With the range in the same select, PostgreSQL chooses the primary key while the table has no statistics,
 * such as after an import, and reads the whole collection.
 */
const heroStatement = statement<FoundItem>(
  'items-search-hero',
  `with heroes as materialized (select * from items where tenant_id = $1 and collection_id = $2 and hero)
   select seq, 0 as bytes, false as is_end, case ${conditions} end as matches
   from heroes where seq > $3 and seq < $4`,
  { writes: false },
)

/** The range of seq in which a page is searched; neither end is included. */
export interface SeqRange {
  after: number
  before: number
}

/** The positions and sizes of up to `limit` matching items, in order, and the position where the scan ended. */
export async function searchItems(
  db: Db,
  tenantId: string,
  collectionId: string,
  { filters, order, range, limit }: { filters: ItemFilters; order: ItemOrder; range: SeqRange; limit: number },
): Promise<FoundItem[]> {
  const { type = null, author = null, approved = null, archived = null, hero = null, access = null } = filters
  const { from = null, to = null, text } = filters
  const inContent = text === undefined ? null : `%${likePattern(JSON.stringify(text).slice(1, -1))}%`
  const inAuthor = text === undefined ? null : `%${likePattern(text)}%`
  const filtered = [type, author, approved, archived, hero, from, to, inContent, inAuthor, access]
  const values = [tenantId, collectionId, range.after, range.before, ...filtered]
  if (hero === true) return (await db.query(heroStatement, values)).filter(({ matches }) => matches)
  return db.query(statements[order], [...values, maxRows, maxSearchedBytes, limit])
}

/**
 * How many of the matching items have at most so much content together; at least one. If all of them do, returns one more
 * than there are, so that only the caller's limit cuts the page.
 */
export function countWithin(found: FoundItem[], maxBytes: number): number {
  let left = maxBytes
  const matching = found.filter(({ matches }) => matches)
  const end = matching.findIndex(({ bytes }) => (left -= bytes) < 0)
  return end === -1 ? matching.length + 1 : Math.max(1, end)
}

/**
 * The time of an item is the start of its transaction, while its seq is given under the lock of the collection. So
 * times of items that were added at once may be out of order, by as long as a lock is waited for. The binary search
 * does not look closer than this.
 */
const outOfOrder = '1 minute'

const halvesStatement = statement<{ seq: number }>(
  'items-seq-at',
  `select lo as seq from (
     with recursive halves (lo, hi) as (
       select 0::bigint, coalesce((select max(seq) from items where tenant_id = $1 and collection_id = $2), 0)
       union all
       select
         case when i.created_at < $3::timestamptz + $4::interval then i.seq else h.lo end,
         case when i.created_at < $3::timestamptz + $4::interval then h.hi else (h.lo + h.hi) / 2 end
       from halves h
       left join lateral (
         select seq, created_at from items
         where tenant_id = $1 and collection_id = $2 and seq > (h.lo + h.hi) / 2 and seq <= h.hi
         order by seq limit 1
       ) i on true
       where h.lo < h.hi
     )
     select lo from halves where lo = hi
   ) h`,
)

/** The range of seq that contains all items added within [from, to), found by binary search. */
export async function findSeqRange(
  db: Db,
  tenantId: string,
  collectionId: string,
  { from, to }: Pick<ItemFilters, 'from' | 'to'>,
): Promise<SeqRange> {
  const seqAt = async (time: string, slack: string) =>
    (await db.query(halvesStatement, [tenantId, collectionId, time, slack]))[0]?.seq ?? 0
  return {
    after: from === undefined ? 0 : await seqAt(from, `-${outOfOrder}`),
    before: to === undefined ? Number.MAX_SAFE_INTEGER : (await seqAt(to, outOfOrder)) + 1,
  }
}
