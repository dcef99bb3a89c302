import { maxScannedRows } from '#http/scanned-page.ts'
import { statement, type Db } from '#db/database.ts'
import { entriesOfChunk, type ListedRequest } from './store.ts'

/** What the log has of one key. */
export interface KeyUseSummary {
  count: number
  since: string | null
  /** The ten origins with the most requests. */
  origins: { origin: string | null; count: number }[]
  /** The last five requests, newest first. */
  last: Pick<ListedRequest, 'requestId' | 'createdAt' | 'method' | 'path' | 'status' | 'origin'>[]
  /** Older requests were not read; null: everything was. */
  searchedFrom: string | null
}

interface Row {
  wanted: string
  searched_from: string | null
  /** A key without requests has one row, in which this and all that follow are null. */
  request_id: string | null
  created_at: string
  method: string
  path: string
  status: number
  origin: string | null
  total: number
  since: string
  of_origin: number
  nth: number
  nth_of_origin: number
  origin_rank: number
}

const summariseStatement = statement<Row>(
  'request-log-key-use',
  // For each key, a bounded number of the tenant's entries before the key's end. There is no index by key, which every
  // request would pay for. A chunk that has entries beyond the key's end or the retention is read without being counted,
  // because it may have only a few of the entries that are searched: one, at least, so that $5 chunks are enough.
  `with wanted as (
     select * from unnest($2::text[], $3::timestamptz[]) as w (key_id, until)
   ), scanned as materialized (
     select w.key_id as wanted, r.*
     from wanted w
     cross join lateral (
       select * from (
         select e.request_id, e.created_at, e.method, e.path, e.status, e.key_id, e.origin
         from (
           select first_at, entries, coalesce(sum(
               case when last_at < w.until and first_at >= now() - make_interval(days => $4) then requests else 0 end
             ) over (order by last_at desc, id desc rows between unbounded preceding and 1 preceding), 0) as before
           from request_log_chunks
           where tenant_id = $1 and first_at < w.until and last_at < w.until + interval '1 minute'
             and last_at >= now() - make_interval(days => $4)
           order by last_at desc, id desc limit $5
         ) c
         cross join ${entriesOfChunk}
         where c.before < $5 and e.created_at < w.until and e.created_at >= now() - make_interval(days => $4)
         union all
         (select request_id, created_at, method, path, status, key_id, origin
         from request_log
         where tenant_id = $1 and created_at < w.until and created_at >= now() - make_interval(days => $4)
         order by created_at desc, request_id desc limit $5)
       ) u
       order by created_at desc, request_id desc limit $5
     ) r
   ), ends as (
     select wanted, case when count(*) >= $5 then min(created_at) end as searched_from from scanned group by wanted
   ), used as (
     select *, count(*) over (partition by wanted) as total, min(created_at) over (partition by wanted) as since,
       count(*) over (partition by wanted, origin) as of_origin,
       row_number() over (partition by wanted order by created_at desc, request_id desc) as nth,
       row_number() over (partition by wanted, origin order by created_at desc, request_id desc) as nth_of_origin
     from scanned where key_id = wanted
   ), ranked as (
     select *, dense_rank() over (partition by wanted order by of_origin desc, origin nulls first) as origin_rank from used
   )
   select w.key_id as wanted, e.searched_from, r.request_id, r.created_at, r.method, r.path, r.status, r.origin, r.total, r.since,
     r.of_origin, r.nth, r.nth_of_origin, r.origin_rank
   from wanted w
   left join ends e on e.wanted = w.key_id
   left join ranked r on r.wanted = w.key_id and (r.nth <= 5 or (r.nth_of_origin = 1 and r.origin_rank <= 10))
   order by w.key_id, r.nth`,
)

/** What the log of the tenant has of each key up to the given time, by key. */
export async function summariseKeyUse(
  db: Db,
  tenantId: string,
  keys: { id: string; until: string }[],
  days: number,
): Promise<Map<string, KeyUseSummary>> {
  if (keys.length === 0) return new Map()
  const ids = keys.map(({ id }) => id)
  const untils = keys.map(({ until }) => until)
  const rows = await db.query(summariseStatement, [tenantId, ids, untils, days, Math.floor(maxScannedRows / keys.length)])
  const byKey = Map.groupBy(rows, ({ wanted }) => wanted)
  return new Map([...byKey].map(([id, found]) => [id, toSummary(found)]))
}

function toSummary(rows: Row[]): KeyUseSummary {
  const requests = rows.filter(({ request_id }) => request_id !== null)
  const origins = requests
    .filter(({ nth_of_origin, origin_rank }) => nth_of_origin === 1 && origin_rank <= 10)
    .toSorted((a, b) => a.origin_rank - b.origin_rank)
  return {
    count: requests[0]?.total ?? 0,
    since: requests[0]?.since ?? null,
    origins: origins.map(({ origin, of_origin }) => ({ origin, count: of_origin })),
    last: requests
      .filter(({ nth }) => nth <= 5)
      .map(({ request_id, created_at, method, path, status, origin }) => ({
        requestId: request_id ?? '',
        createdAt: created_at,
        method,
        path,
        status,
        origin,
      })),
    searchedFrom: rows[0]?.searched_from ?? null,
  }
}
