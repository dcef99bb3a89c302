import type { Db } from '#db/database.ts'
import { countEntries, takeDurations } from './summary-store.ts'

const maxHours = 48
const maxDays = 90

interface Bucket {
  at: string
  requests: number
  refused: number
  failed: number
  p95_ms: number | null
}

interface LogSummary {
  sampled: boolean
  buckets: Bucket[]
}

/** Counts the entries of the tenant by hour or by day in UTC, oldest first, without a gap. */
export async function summariseLog(db: Db, tenantId: string, by: 'hour' | 'day', days: number): Promise<LogSummary> {
  const seconds = by === 'hour' ? 3_600 : 86_400
  const buckets = by === 'hour' ? Math.min(maxHours, days * 24) : Math.min(maxDays, days)
  const last = Math.floor(Date.now() / 1_000 / seconds)
  const first = last - buckets + 1
  const from = new Date(first * seconds * 1_000).toISOString()
  const [counts, durations] = await Promise.all([
    countEntries(db, tenantId, from, seconds),
    takeDurations(db, tenantId, from, seconds),
  ])
  const countsOf = new Map(counts.map((of) => [of.bucket, of]))
  const durationsOf = new Map(durations.map((of) => [of.bucket, of]))
  return {
    sampled: counts.some(({ bucket, requests }) => (durationsOf.get(bucket)?.taken ?? 0) < requests),
    buckets: Array.from({ length: buckets }, (_, at) => {
      const { requests = 0, refused = 0, failed = 0 } = countsOf.get(first + at) ?? {}
      return {
        at: new Date((first + at) * seconds * 1_000).toISOString(),
        requests,
        refused,
        failed,
        p95_ms: durationsOf.get(first + at)?.p95_ms ?? null,
      }
    }),
  }
}
