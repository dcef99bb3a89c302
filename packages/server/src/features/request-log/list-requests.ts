import type { Db } from '#db/database.ts'
import { maxScannedRows } from '#http/scanned-page.ts'
import type { TimeRange } from '#http/time-page.ts'
import { listRows, scanChunks, type ListedRequest, type RequestFilter } from './store.ts'

/** Sorts after every id. A position with it is therefore before the newest entry of its time. */
const afterAllIds = '~'

interface RequestPage {
  requests: ListedRequest[]
  /** After which position the next page begins; undefined: this is the last page. */
  last: { createdAt: string; id: string } | undefined
}

/**
 * The entries that match, newest first, at most `limit`. A page is shorter if few of many entries match: no call reads
 * more than `maxScannedRows` entries by much.
 */
export async function listLoggedRequests(
  db: Db,
  tenantId: string,
  range: TimeRange,
  filter: RequestFilter,
  days: number,
  limit: number,
): Promise<RequestPage> {
  const found = await listRows(db, tenantId, range, filter, days, limit + 1)
  let scanned = 0
  let next: { at: string; id: string } | undefined
  do {
    const scan = await scanChunks(db, tenantId, range, filter, days, limit + 1, next)
    found.push(...scan.requests)
    found.sort(newestFirst)
    scanned += scan.scanned
    ;({ next } = scan)
    // Chunks overlap in time. The page is complete once no unread chunk can have an entry that is newer than its last one.
    if (next && (found[limit]?.createdAt ?? '') > next.at) break
    // Beyond the bound, the scan continues until it has passed the beginning of the page: the next page must not repeat it.
  } while (next && (scanned < maxScannedRows || next.at >= range.after.createdAt))
  const until = next?.at
  const placed = until === undefined ? found : found.filter(({ createdAt }) => createdAt > until)
  const requests = placed.slice(0, limit)
  const end = requests.at(-1)
  if (placed.length > limit && end) return { requests, last: { createdAt: end.createdAt, id: end.requestId } }
  return { requests, last: until === undefined ? undefined : { createdAt: until, id: afterAllIds } }
}

function newestFirst(a: ListedRequest, b: ListedRequest): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1
  return a.requestId < b.requestId ? 1 : -1
}
