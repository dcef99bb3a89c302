import { likePattern, regexPattern } from '#db/like-pattern.ts'
import { statement, type Db } from '#db/database.ts'
import { scannedPage, type ScannedRow } from '#http/scanned-page.ts'
import type { Collection, CollectionState } from './collection.ts'

export type ListedCollection = Pick<Collection, 'id' | 'state' | 'contributorPolicy' | 'itemCount' | 'createdAt' | 'metadata'>

interface Row extends ScannedRow {
  id: string
  state: CollectionState
  contributor_policy: Collection['contributorPolicy']
  item_count: number
  created_at: string
  metadata: Record<string, unknown>
}

/** One call reads at most 50,000 rows (150 ms) and this much metadata. */
const maxRows = 50_000
const maxBytes = 16 * 1024 * 1024

/**
 * The scan follows the index and stops when the page is full. pg_column_size does not read values that are stored out
 * of line; only the title search does, up to maxBytes. `->>` fails on metadata with some escapes (a NUL, half a
 * surrogate pair), so those are compared as text.
 */
const listStatement = statement<Row>(
  'collections-of-tenant',
  `select id, state, contributor_policy, item_count, created_at, metadata, matches, is_end from (
     select c.*,
       case
         when read_bytes - bytes > $8 then false
         when $4::text is not null and state <> $4 then false
         when $5::text is null then true
         when metadata::text not ilike $5 then false
         when position('\\u' in metadata::text) > 0 then metadata::text ~* $10
         else coalesce(metadata ->> 'share_title' ilike $6, false)
       end as matches,
       read_bytes - bytes <= $8 as is_read,
       place = $7 or (read_bytes > $8 and read_bytes - bytes <= $8) as is_end
     from (
       select c.*, row_number() over scan as place, sum(bytes) over scan as read_bytes from (
         select id, state, contributor_policy, item_count, created_at, metadata,
           case when $5::text is null then 0 else pg_column_size(metadata) end as bytes
         from collections
         where tenant_id = $1 and (created_at, id) < ($2::timestamptz, $3)
         order by created_at desc, id desc limit $7
       ) c
       window scan as (order by created_at desc, id desc rows unbounded preceding)
     ) c
   ) c
   where is_read and (matches or is_end)
   order by created_at desc, id desc limit $9`,
)

/** The text in the form that it has within a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

interface ListQuery {
  state?: CollectionState | undefined
  /** A part of share_title. */
  titlePart?: string | undefined
  after: { createdAt: string; id: string } | undefined
  limit: number
}

/** `last` is the position from which the next page continues; undefined at the end of the list. */
export async function listCollections(
  db: Db,
  tenantId: string,
  { state, titlePart, after, limit }: ListQuery,
): Promise<{ collections: ListedCollection[]; last: ListedCollection | undefined }> {
  const rows = await db.query(listStatement, [
    tenantId,
    after?.createdAt ?? 'infinity',
    after?.id ?? '',
    state ?? null,
    titlePart === undefined ? null : `%"share\\_title":"%${likePattern(inJson(titlePart))}%`,
    titlePart === undefined ? null : `%${likePattern(titlePart)}%`,
    maxRows,
    maxBytes,
    limit + 1,
    titlePart === undefined ? null : String.raw`"share_title":"([^"\\]|\\.)*${regexPattern(inJson(titlePart))}`,
  ])
  const { page, last } = scannedPage(rows, limit)
  return { collections: page.map(toListed), last: last && toListed(last) }
}

function toListed({ id, state, metadata, ...row }: Row): ListedCollection {
  const { contributor_policy: contributorPolicy, item_count: itemCount, created_at: createdAt } = row
  return { id, state, contributorPolicy, itemCount, createdAt, metadata }
}
