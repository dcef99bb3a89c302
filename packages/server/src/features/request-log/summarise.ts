import { base62 } from '@atrium/contract/tokens'
import type { Db } from '#db/database.ts'
import { countFailures, countSample, type LogCounts } from './store.ts'

/** Bounds the work of each of the two statements: about 50 ms on a slow core. */
const limit = 10_000
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
  const [sample, errors] = await Promise.all([
    countSample(db, tenantId, from, seconds, limit),
    countFailures(db, tenantId, from, seconds, limit),
  ])
  const scale = sample.taken < limit ? 1 : scaleOf(sample.taken, sample.lastId)
  // Few errors among many requests would be missing from the sample, so they are counted beside it.
  const counted = errors.length === 0 || sumOf(errors) < limit ? errors : undefined
  const ofBucket = new Map(sample.counts.map((counts) => [counts.bucket, counts]))
  const errorsOf = new Map((counted ?? sample.counts).map((counts) => [counts.bucket, counts]))
  const errorScale = counted ? 1 : scale
  return {
    sampled: scale !== 1,
    buckets: Array.from({ length: buckets }, (_, at) => {
      const sampled = ofBucket.get(first + at)
      const { refused = 0, failed = 0 } = errorsOf.get(first + at) ?? {}
      const shown = { refused: Math.round(refused * errorScale), failed: Math.round(failed * errorScale) }
      return {
        at: new Date((first + at) * seconds * 1_000).toISOString(),
        // The sample may have missed all requests of an hour whose errors are known.
        requests: Math.max(Math.round((sampled?.requests ?? 0) * scale), shown.refused + shown.failed),
        ...shown,
        p95_ms: sampled?.p95Ms ?? null,
      }
    }),
  }
}

function sumOf(counts: readonly LogCounts[]): number {
  return counts.reduce((sum, { refused, failed }) => sum + refused + failed, 0)
}

/**
 * How many entries each one of the sample stands for. Ids are random, so the first ones in their order are a random
 * sample, and where it ends among all possible ids says how many entries there are (k minimum values).
 */
function scaleOf(taken: number, lastId: string): number {
  const start = lastId.indexOf('_') + 1
  const digits = Array.from(lastId.slice(start, start + 8), (character) => base62.indexOf(character))
  const share = digits.reduce((sum, digit, at) => sum + digit / 62 ** (at + 1), 0)
  return (taken - 1) / share / taken
}
