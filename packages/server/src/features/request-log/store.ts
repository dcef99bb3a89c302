import { statement, type Db } from '#db/database.ts'
import type { TimeRange } from '#http/time-page.ts'

export interface LoggedRequest {
  tenantId: string
  requestId: string
  createdAt: string
  method: string
  /** The path that the contract declares. */
  path: string
  status: number
  code: string | null
  keyId: string
  durationMs: number
  origin: string | null
}

const insertStatement = statement<never>(
  'request-log-insert',
  // The condition skips tenants whose rows are being removed, as for usage: the table is that of the tenants feature.
  `insert into request_log (tenant_id, request_id, created_at, method, path, status, code, key_id, duration_ms, origin)
   select r.* from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::text[],
     $9::double precision[], $10::text[]) as r (tenant_id, request_id, created_at, method, path, status, code, key_id, duration_ms, origin)
   where not exists (select from tenant_deletions x where x.tenant_id = r.tenant_id and x.started_at is not null)
   on conflict do nothing`,
  { tries: 'one' },
)

/** Adds requests of any tenants. A batch may be sent again. */
export async function insertRequests(db: Db, requests: LoggedRequest[]): Promise<void> {
  const column = <Value>(of: (request: LoggedRequest) => Value) => requests.map(of)
  await db.query(insertStatement, [
    column(({ tenantId }) => tenantId),
    column(({ requestId }) => requestId),
    column(({ createdAt }) => createdAt),
    column(({ method }) => method),
    column(({ path }) => path),
    column(({ status }) => status),
    column(({ code }) => code),
    column(({ keyId }) => keyId),
    column(({ durationMs }) => durationMs),
    column(({ origin }) => origin),
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

const listText = (where: string) => `select request_id, created_at, method, path, status, code, key_id, duration_ms, origin
   from request_log
   where tenant_id = $1 and (created_at, request_id) < ($2::timestamptz, $3) and created_at >= $4::timestamptz
     and created_at >= now() - make_interval(days => $5)
     and status between $6 and $7 and ($8::text is null or method = $8) and ($9::text is null or path = $9)
     and ($10::text[] is null or key_id = any($10)) and ($11::text is null or request_id = $11) ${where}
   order by created_at desc, request_id desc limit $12`
const listStatement = statement<Row>('request-log-list', listText(''))
// The same conditions again, in the form that an index has.
const listFailuresStatement = statement<Row>('request-log-list-failures', listText('and status >= 400'))
const findStatement = statement<Row>('request-log-find', listText('and request_id = $11'))

export interface RequestFilter {
  requestId: string | undefined
  /** Both included. */
  statuses: readonly [number, number]
  method: string | undefined
  path: string | undefined
  keyIds: string[] | undefined
}

/** Newest first, none older than `days`. */
export async function listLoggedRequests(
  db: Db,
  tenantId: string,
  { after, from }: TimeRange,
  { requestId, statuses, method, path, keyIds }: RequestFilter,
  days: number,
  limit: number,
): Promise<LoggedRequest[]> {
  const filters = [...statuses, method ?? null, path ?? null, keyIds ?? null, requestId ?? null]
  const ofStatus = statuses[0] >= 400 ? listFailuresStatement : listStatement
  const list = requestId === undefined ? ofStatus : findStatement
  const rows = await db.query(list, [tenantId, after.createdAt, after.id, from, days, ...filters, limit])
  return rows.map((row) => ({
    tenantId,
    requestId: row.request_id,
    createdAt: row.created_at,
    method: row.method,
    path: row.path,
    status: row.status,
    code: row.code,
    keyId: row.key_id,
    durationMs: row.duration_ms,
    origin: row.origin,
  }))
}

export interface LogCounts {
  /** The number of the hour or day since 1970. */
  bucket: number
  /** Answered with 4xx. */
  refused: number
  /** Answered with 5xx. */
  failed: number
}

// Not extract(): its numeric arithmetic takes longer than reading the rows.
const bucketText = `floor(date_part('epoch', created_at) / $3)::integer`
const countsText = `count(*) filter (where status between 400 and 499)::integer as refused,
  count(*) filter (where status >= 500)::integer as failed`

const countFailuresStatement = statement<LogCounts>(
  'request-log-count-failures',
  `select ${bucketText} as bucket, ${countsText}
   from (select created_at, status from request_log where tenant_id = $1 and status >= 400 and created_at >= $2::timestamptz
     order by created_at desc limit $4) newest
   group by 1`,
)

/** The newest errors since then, at most `limit` of them, by bucket. */
export async function countFailures(
  db: Db,
  tenantId: string,
  from: string,
  bucketSeconds: number,
  limit: number,
): Promise<LogCounts[]> {
  return db.query(countFailuresStatement, [tenantId, from, bucketSeconds, limit])
}

const countSampleStatement = statement<LogCounts & { requests: number; p95_ms: number; taken: number; last_id: string }>(
  'request-log-count-sample',
  // In the order of the primary key, so that no more than the limit is read, whatever the log has.
  `with sample as materialized (
     select request_id, created_at, status, duration_ms from request_log where tenant_id = $1 order by request_id limit $4
   )
   select ${bucketText} as bucket, count(*)::integer as requests, ${countsText},
     percentile_disc(0.95) within group (order by duration_ms) as p95_ms,
     (select count(*)::integer from sample) as taken, (select max(request_id) from sample) as last_id
   from sample where created_at >= $2::timestamptz
   group by 1`,
  { writes: false },
)

interface Sample {
  counts: (LogCounts & { requests: number; p95Ms: number })[]
  /** Entries of the whole log that were read, and the last id among them. */
  taken: number
  lastId: string
}

/** The first `limit` entries in the order of their ids, which is random; those since then by bucket. */
export async function countSample(db: Db, tenantId: string, from: string, bucketSeconds: number, limit: number): Promise<Sample> {
  const rows = await db.query(countSampleStatement, [tenantId, from, bucketSeconds, limit])
  const counts = rows.map(({ bucket, requests, refused, failed, p95_ms: p95Ms }) => ({
    bucket,
    requests,
    refused,
    failed,
    p95Ms,
  }))
  return { counts, taken: rows[0]?.taken ?? 0, lastId: rows[0]?.last_id ?? '' }
}
