import { FairSemaphore } from '@atrium/media/pictures/fair-semaphore'
import { ApiError } from '#errors/api-error.ts'

/**
 * Limits the pages of lists that are in memory at once, from the query until the answer is serialised. A page of large
 * items is in memory four times (received data, rows, text and bytes), some 13 MB; one page per database connection
 * took 300 MiB. The limit costs no throughput, because one thread serialises the answers. It is fair between tenants:
 * the pages of one tenant, many or held up by a lock, do not delay the pages of another.
 */
export const pageTurns = new FairSemaphore({
  permits: 5,
  permitsPerTenant: 4,
  maxWaiting: 1_000,
  maxWaitingPerTenant: 500,
  timeoutMs: 5_000,
  busy: () => new ApiError('unavailable', { message: 'Too many pages are being read at once.', retryAfterSeconds: 1 }),
})
