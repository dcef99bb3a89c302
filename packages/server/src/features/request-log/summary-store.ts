import { statement, type Db } from '#db/database.ts'

interface LogCounts {
  /** The number of the hour or day since 1970. */
  bucket: number
  requests: number
  /** Answered with 4xx. */
  refused: number
  /** Answered with 5xx. */
  failed: number
}

// Not extract(): its numeric arithmetic takes longer than reading the rows.
const bucketOf = (column: string) => `floor(date_part('epoch', ${column}) / $3)::integer`

const countStatement = statement<LogCounts>(
  'request-log-count',
  // Chunks are counted from the index alone. Entries from before migration 0120 are counted up to a bound.
  `select bucket, sum(requests)::integer as requests, sum(refused)::integer as refused, sum(failed)::integer as failed
   from (
     select ${bucketOf('last_at')} as bucket, requests, refused, failed
     from request_log_chunks where tenant_id = $1 and last_at >= $2::timestamptz
     union all
     (select ${bucketOf('created_at')}, 1, (status between 400 and 499)::integer, (status >= 500)::integer
     from request_log where tenant_id = $1 and created_at >= $2::timestamptz
     order by created_at desc limit 10000)
   ) counted
   group by bucket`,
)

/** The entries since then by bucket. */
export async function countEntries(db: Db, tenantId: string, from: string, bucketSeconds: number): Promise<LogCounts[]> {
  return db.query(countStatement, [tenantId, from, bucketSeconds])
}

interface Durations {
  bucket: number
  p95_ms: number
  /** How many durations that is computed from. */
  taken: number
}

const durationsStatement = statement<Durations>(
  'request-log-durations',
  // Reads twenty chunks at each of ten moments of a bucket, so that the work has a bound. A duration counts for as many
  // entries as there are in its chunk for each duration in the sample.
  `with taken as materialized (
     select ${bucketOf('c.last_at')} as bucket, d.ms, c.requests::double precision / cardinality(c.duration_sample) as entries
     from generate_series($2::timestamptz, now(), make_interval(secs => $3 / 10.0)) as slice (at)
     cross join lateral (
       select last_at, requests, duration_sample from request_log_chunks
       where tenant_id = $1 and last_at >= slice.at and last_at < slice.at + make_interval(secs => $3 / 10.0)
       order by last_at limit 20
     ) c
     cross join lateral unnest(c.duration_sample) as d (ms)
     union all
     (select ${bucketOf('created_at')}, duration_ms, 1 from request_log
     where tenant_id = $1 and created_at >= $2::timestamptz
     order by created_at desc limit 10000)
   ), placed as (
     select bucket, ms, sum(entries) over (partition by bucket order by ms) as up_to, sum(entries) over (partition by bucket) as total
     from taken
   )
   select bucket, min(ms) filter (where up_to >= 0.95 * total - 0.000001) as p95_ms, count(*)::integer as taken
   from placed group by bucket`,
)

/** The 95th percentile of the durations since then by bucket, from a sample. */
export async function takeDurations(db: Db, tenantId: string, from: string, bucketSeconds: number): Promise<Durations[]> {
  return db.query(durationsStatement, [tenantId, from, bucketSeconds])
}
