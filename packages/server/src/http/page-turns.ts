import { Semaphore } from '@atrium/traffic/semaphore'
import { ApiError } from '#errors/api-error.ts'

/**
 * Limits the pages of lists that are in memory at once, from the query until the answer is serialised. A page of large items
 * is in memory four times (received data, rows, text and bytes), some 13 MB; one page per database connection took 300 MiB.
 * The limit costs no throughput, because one thread serialises the answers.
 */
export const pageTurns = new Semaphore(4, {
  maxWaiting: 1_000,
  timeoutMs: 5_000,
  refusal: () => new ApiError('unavailable', { message: 'Too many pages are being read at once.', retryAfterSeconds: 1 }),
})
