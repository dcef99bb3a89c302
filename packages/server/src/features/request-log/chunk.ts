import { timeOfId } from '@atrium/contract/tokens'
import type { LoggedRequest } from './store.ts'

/** About 30 kB of JSON. */
const maxEntries = 250
/** The durations of all entries of most chunks would say no more. */
const sampleSize = 8
const minuteMs = 60_000

/** What one process answered for one tenant within one minute (UTC) at most, as one row. */
export interface RequestChunk {
  tenantId: string
  id: string
  firstAt: string
  lastAt: string
  /** When the first of the requests arrived. */
  startedAt: string
  requests: number
  refused: number
  failed: number
  /** Milliseconds of up to eight entries at random, as an array of PostgreSQL. */
  durationSample: string
  /** JSON. */
  entries: string
}

/** Whether this request of the tenant belongs to the same chunk as those before it. */
export function isOneChunk(group: readonly LoggedRequest[], { at }: LoggedRequest): boolean {
  const [{ at: firstAt } = { at }] = group
  return group.length < maxEntries && Math.floor(firstAt / minuteMs) === Math.floor(at / minuteMs)
}

/** Makes a chunk of requests of one tenant. */
export function toChunk(requests: LoggedRequest[]): RequestChunk {
  const [{ tenantId, requestId: id, at: firstSeen } = { tenantId: '', requestId: '', at: 0 }] = requests
  let [firstAt, lastAt, startedAt, refused, failed] = [firstSeen, firstSeen, firstSeen, 0, 0]
  for (const { at, requestId, status } of requests) {
    firstAt = Math.min(firstAt, at)
    lastAt = Math.max(lastAt, at)
    startedAt = Math.min(startedAt, timeOfId(requestId))
    if (status >= 500) failed++
    else if (status >= 400) refused++
  }
  return {
    tenantId,
    id,
    firstAt: new Date(firstAt).toISOString(),
    lastAt: new Date(lastAt).toISOString(),
    startedAt: new Date(startedAt).toISOString(),
    requests: requests.length,
    refused,
    failed,
    durationSample: `{${sampleOf(requests).join()}}`,
    entries: JSON.stringify(requests.map((request) => toEntry(request, firstAt))),
  }
}

/** Every entry of a small chunk; of a larger one, a random one of each eighth. */
function sampleOf(requests: LoggedRequest[]): number[] {
  const taken = Math.min(requests.length, sampleSize)
  const place =
    taken < sampleSize ? (n: number) => n : (n: number) => Math.floor(((n + Math.random()) * requests.length) / sampleSize)
  return Array.from({ length: taken }, (_, n) => requests[place(n)]?.durationMs ?? 0)
}

/**
 * An entry as an array, in which milliseconds count from the chunk's first entry, and nulls at the end are left out. It
 * takes half the time of an object to write.
 */
function toEntry({ requestId, at, method, path, status, code, keyId, durationMs, origin }: LoggedRequest, firstAt: number) {
  const entry: (string | number | null)[] = [requestId, at - firstAt, method, path, status, durationMs, keyId]
  if (origin !== null) entry.push(code, origin)
  else if (code !== null) entry.push(code)
  return entry
}
