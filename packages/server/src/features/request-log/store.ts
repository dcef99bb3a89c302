import { statement, type Db } from '#db/database.ts'
import type { TimeRange } from '#http/time-page.ts'
import type { RequestChunk } from './chunk.ts'

interface RequestFields {
  requestId: string
  method: string
  /** The path that the contract declares. */
  path: string
  status: number
  code: string | null
  keyId: string
  durationMs: number
  origin: string | null
}

export interface LoggedRequest extends RequestFields {
  tenantId: string
  /** Milliseconds since 1970. */
  at: number
}

export interface ListedRequest extends RequestFields {
  createdAt: string
}

const insertStatement = statement<never>(
  'request-log-insert',
  // The condition skips tenants whose rows are being removed, as for usage: the table is that of the tenants feature.
  `insert into request_log_chunks (tenant_id, id, first_at, last_at, started_at, requests, refused, failed, duration_sample, entries)
   select c.tenant_id, c.id, c.first_at, c.last_at, c.started_at, c.requests, c.refused, c.failed,
     c.duration_sample::double precision[], c.entries::json
   from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::integer[], $7::integer[],
     $8::integer[], $9::text[], $10::text[])
     as c (tenant_id, id, first_at, last_at, started_at, requests, refused, failed, duration_sample, entries)
   where not exists (select from tenant_deletions x where x.tenant_id = c.tenant_id and x.started_at is not null)
   on conflict do nothing`,
  { tries: 'one' },
)

/** Adds chunks of any tenants. A chunk may be sent again. */
export async function insertChunks(db: Db, chunks: readonly RequestChunk[]): Promise<void> {
  const column = <Value>(of: (chunk: RequestChunk) => Value) => chunks.map(of)
  await db.query(insertStatement, [
    column(({ tenantId }) => tenantId),
    column(({ id }) => id),
    column(({ firstAt }) => firstAt),
    column(({ lastAt }) => lastAt),
    column(({ startedAt }) => startedAt),
    column(({ requests }) => requests),
    column(({ refused }) => refused),
    column(({ failed }) => failed),
    column(({ durationSample }) => durationSample),
    column(({ entries }) => entries),
  ])
}

interface Row {
  request_id: string
  created_at: string
  method: string
  path: string
  status: number
  code: string | null
  key_id: string
  duration_ms: number
  origin: string | null
}

/** A row of a scan: an entry, or one row without an entry if the chunks that were read have none that matches. */
type ScannedRow = { [Column in keyof Row]: Row[Column] | null } & {
  /** How many entries were read; 0: there are no further chunks. */
  scanned: number
  /** The oldest chunk that was read. Later chunks have no entry after `until`. */
  until: string | null
  until_id: string | null
}

/** The entries of the chunk `c`, as `e`: see `toEntry`. */
export const entriesOfChunk = `lateral (
       select (v ->> 0) collate "C" as request_id, c.first_at + (v ->> 1)::integer * interval '1 millisecond' as created_at,
         v ->> 2 as method, v ->> 3 as path, (v ->> 4)::smallint as status, (v ->> 5)::double precision as duration_ms,
         v ->> 6 as key_id, v ->> 7 as code, v ->> 8 as origin
       from json_array_elements(c.entries) as entry (v)
     ) e`

const entryColumns = 'request_id, created_at, method, path, status, code, key_id, duration_ms, origin'

/** $1 to $11: the tenant, the position in the list, since when, the retention, and the filters. */
const wanted = `(created_at, request_id) < ($2::timestamptz, $3) and created_at >= $4::timestamptz
     and created_at >= now() - make_interval(days => $5)
     and status between $6 and $7 and ($8::text is null or method = $8) and ($9::text is null or path = $9)
     and ($10::text[] is null or key_id = any($10)) and ($11::text is null or request_id = $11)`

/** Reads at most 200 chunks, and no more once they have 5,000 entries: about 20 ms. */
const scanText = (where: string) => `with near as (
     select first_at, last_at, id, requests, entries from request_log_chunks
     where tenant_id = $1 and (last_at, id) < (coalesce($13::timestamptz, $2::timestamptz + interval '1 minute'), coalesce($14, ''))
       and last_at >= $4::timestamptz and last_at >= now() - make_interval(days => $5) and first_at <= $2::timestamptz ${where}
     order by last_at desc, id desc limit 200
   ), chunk as materialized (
     select * from (select *, sum(requests) over (order by last_at desc, id desc) - requests as before from near) n
     where before < 5000
   )
   select s.*, r.*
   from (
     select coalesce(sum(requests), 0)::integer as scanned, (select last_at from chunk order by last_at, id limit 1) as until,
       (select id from chunk order by last_at, id limit 1) as until_id
     from chunk
   ) s
   left join lateral (
     select ${entryColumns} from chunk c cross join ${entriesOfChunk}
     where ${wanted}
     order by created_at desc, request_id desc limit $12
   ) r on true
   order by r.created_at desc, r.request_id desc`
const scanStatement = statement<ScannedRow>('request-log-scan', scanText(''))
const scanFailuresStatement = statement<ScannedRow>('request-log-scan-failures', scanText('and refused + failed > 0'))
// An answer is logged when it ends, which for a stream is hours after the time in its id.
const findStatement = statement<ScannedRow>(
  'request-log-find',
  scanText(
    `and started_at <= $15::timestamptz and last_at >= $15::timestamptz and last_at < $15::timestamptz + interval '1 day'`,
  ),
)

// Releases before migration 0120 wrote each entry as a row of its own.
const listText = (where: string) => `select ${entryColumns} from request_log
   where tenant_id = $1 and ${wanted} ${where}
   order by created_at desc, request_id desc limit $12`
const listStatement = statement<Row>('request-log-list', listText(''))
// Repeats a condition in the form of a partial index, so that PostgreSQL uses that index.
const listFailuresStatement = statement<Row>('request-log-list-failures', listText('and status >= 400'))
const findRowStatement = statement<Row>('request-log-find-row', listText('and request_id = $11'))

export interface RequestFilter {
  requestId: string | undefined
  /** When that request arrived, if its id says so: ISO 8601. */
  startedAt: string | undefined
  /** Both included. */
  statuses: readonly [number, number]
  method: string | undefined
  path: string | undefined
  keyIds: string[] | undefined
}

interface Scan {
  requests: ListedRequest[]
  /** How many entries were read. */
  scanned: number
  /** Where the next scan begins: chunks that were not read have nothing after that time. undefined: nothing is left. */
  next: { at: string; id: string } | undefined
}

/** Reads some chunks, from the newest one at `start` on. Returns at most `limit` entries that match, newest first. */
export async function scanChunks(
  db: Db,
  tenantId: string,
  { after, from }: TimeRange,
  filter: RequestFilter,
  days: number,
  limit: number,
  start: Scan['next'],
): Promise<Scan> {
  const params = [
    tenantId,
    after.createdAt,
    after.id,
    from,
    days,
    ...filtersOf(filter),
    limit,
    start?.at ?? null,
    start?.id ?? null,
  ]
  const rows =
    filter.startedAt === undefined
      ? await db.query(filter.statuses[0] >= 400 ? scanFailuresStatement : scanStatement, params)
      : await db.query(findStatement, [...params, filter.startedAt])
  const [{ scanned, until, until_id: untilId } = { scanned: 0, until: null, until_id: null }] = rows
  return {
    requests: rows.flatMap((row) => (isEntry(row) ? [toRequest(row)] : [])),
    scanned,
    next: until === null || untilId === null ? undefined : { at: until, id: untilId },
  }
}

function isEntry(row: ScannedRow): row is ScannedRow & Row {
  return row.request_id !== null
}

/** The matching entries that are rows of their own, newest first, none older than `days`. */
export async function listRows(
  db: Db,
  tenantId: string,
  { after, from }: TimeRange,
  filter: RequestFilter,
  days: number,
  limit: number,
): Promise<ListedRequest[]> {
  const ofStatus = filter.statuses[0] >= 400 ? listFailuresStatement : listStatement
  const list = filter.requestId === undefined ? ofStatus : findRowStatement
  const rows = await db.query(list, [tenantId, after.createdAt, after.id, from, days, ...filtersOf(filter), limit])
  return rows.map(toRequest)
}

function filtersOf({ requestId, statuses, method, path, keyIds }: RequestFilter) {
  return [...statuses, method ?? null, path ?? null, keyIds ?? null, requestId ?? null]
}

function toRequest(row: Row): ListedRequest {
  return {
    requestId: row.request_id,
    createdAt: row.created_at,
    method: row.method,
    path: row.path,
    status: row.status,
    code: row.code,
    keyId: row.key_id,
    durationMs: row.duration_ms,
    origin: row.origin,
  }
}
