import { isOffered } from './check-log.ts'

/** Gets a page of the API, such as `/v1/epochs?limit=200`: an object with `data` and perhaps `meta.next_cursor`. */
export type GetPage = (path: string) => Promise<Readonly<Record<string, unknown>>>

/** The epochs that are compared with the log: the newest of those that are offered. Nobody buys tokens of more at once. */
const maxCompared = 40
/** The API's own cursors have fewer than 50 characters. */
const maxCursorLength = 500

export interface OfferedEpochs {
  /** The newest that were read, the oldest first. */
  readonly compared: readonly Record<string, unknown>[]
  /** How many others were read. */
  readonly older: number
  /** Why there may be newer ones. Undefined if the list was read to its end. */
  readonly unread?: Unread | undefined
}

interface Unread {
  /** The list is wrong, or a bound was reached. */
  readonly why: 'wrong' | 'bound'
  readonly message: string
}

interface Bounds {
  readonly maxPages: number
  /** Aborts the requests of `getPage` when their time is over. */
  readonly signal?: AbortSignal
}

/**
 * Reads the API's list of epochs, the oldest first, to its end, which is where the newest are. A service can answer with
 * pages without end: it reads `maxPages` at most, and keeps only what is compared.
 */
export async function readOfferedEpochs(getPage: GetPage, { maxPages, signal }: Bounds): Promise<OfferedEpochs> {
  const cursors = new Set<string>()
  let compared: Record<string, unknown>[] = []
  let older = 0
  const endUnread = (why: Unread['why'], message: string) => ({ compared, older, unread: { why, message } })
  let path = listPath
  for (let page = 1; page <= maxPages; page++) {
    let answer: Awaited<ReturnType<GetPage>>
    try {
      answer = await getPage(path)
    } catch (error) {
      if (signal?.aborted) return endUnread('bound', `page ${page} of the list of epochs was not there in time`)
      throw error
    }
    const { data, meta } = answer
    if (!Array.isArray(data) || !data.every(isRecord))
      return endUnread('wrong', `page ${page} of /v1/epochs is no list of epochs`)
    const offered = [...compared, ...data.filter((epoch) => isOffered(epoch, Date.now()))]
    compared = offered.slice(-maxCompared)
    older += offered.length - compared.length
    const next = isRecord(meta) ? meta['next_cursor'] : undefined
    if (next === undefined || next === null) return { compared, older }
    if (typeof next !== 'string' || next === '' || next.length > maxCursorLength || cursors.has(next))
      return endUnread('wrong', `the cursor of page ${page} of /v1/epochs leads to no other page`)
    cursors.add(next)
    path = `${listPath}&cursor=${encodeURIComponent(next)}`
  }
  return endUnread('bound', `the list of epochs has more than ${maxPages} pages`)
}

const listPath = '/v1/epochs?limit=200'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
