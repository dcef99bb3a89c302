import { Semaphore } from '@atrium/traffic/semaphore'
import { ApiError } from '#errors/api-error.ts'

/**
 * For pages of lists, from the query until the answer is made. A page of large items is in memory four times (as it arrives, as rows, as text and as
 * bytes), some 13 MB: as many at once as the database has connections took 300 MiB. The process turns rows into an answer one at a time in any case.
 */
export const pageTurns = new Semaphore(4, {
  maxWaiting: 1_000,
  timeoutMs: 5_000,
  refusal: () => new ApiError('unavailable', { message: 'Too many pages are being read.', retryAfterSeconds: 1 }),
})
