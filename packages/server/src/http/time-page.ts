import { limits } from '@atrium/contract/limits'
import { filteredList, makeTimeCursor, readTimeCursor, type TimePosition } from './cursor.ts'
import { requestTime } from './request-time.ts'

/** The part of a list, newest first, in which a page is searched. Times are RFC 3339, UTC. */
export interface TimeRange {
  /** The page begins after this position. */
  after: TimePosition
  /** Older rows are not listed. */
  from: string
}

/** The members that are not declared here are filters. */
interface TimeQuery {
  from?: string
  to?: string
  limit?: number
  cursor?: string
}

/** Reads the query of a list that is ordered by time and filtered. Throws invalid_cursor and invalid_request. */
export function readTimeQuery(list: string, { from, to, limit, cursor, ...filters }: TimeQuery) {
  const since = from === undefined ? undefined : requestTime(from, '/from')
  const until = to === undefined ? undefined : requestTime(to, '/to')
  const name = filteredList(list, { ...filters, from: since, to: until })
  const after = readTimeCursor(name, cursor) ?? { createdAt: until ?? 'infinity', id: '' }
  return {
    range: { after, from: since ?? '-infinity' } satisfies TimeRange,
    limit: limit ?? limits.pageDefault,
    /** The cursor of the page that follows this row. */
    cursorAfter: (last: TimePosition | undefined) => last && makeTimeCursor(name, last),
  }
}
