import { useCallback, useRef, useState } from 'preact/hooks'
import { useQuery } from './use-query.ts'

export interface Page<Row> {
  rows: Row[]
  nextCursor: string | undefined
}

export interface Pages<Row> {
  rows: readonly Row[] | undefined
  error: unknown
  isLoading: boolean
  /** Loads the next page; absent if there is none. */
  more: (() => void) | undefined
  isLoadingMore: boolean
  reload: () => void
  /** Does again what `error` is about. */
  retry: () => void
  /** Reads the newest page again: new rows are put first, and rows that are shown are replaced. */
  refresh: (keyOf: (row: Row) => string) => void
  /** Reads again as many rows as are shown: for lists whose rows also change, or go, beyond the newest page. */
  refreshAll: () => void
  /** Replaces the rows on this page, after a change that the server has confirmed. */
  set: (change: (rows: Row[]) => Row[]) => void
}

/** A filtered page may be empty although more follow: at most so many are read on until one has a row. */
const MAX_EMPTY = 10

/**
 * A list that is read page by page. `key` names the list and its filters; `load` gets the cursor to read on
 * from as a query to add.
 */
export function usePages<Row>(
  key: string,
  load: (page: { cursor?: string }, signal: AbortSignal) => Promise<{ data: Row[]; nextCursor?: string | undefined }>,
): Pages<Row> {
  const [isLoadingMore, setLoadingMore] = useState(false)
  const [moreError, setMoreError] = useState<{ key: string; error: unknown }>()
  const readOn = async (from: string | undefined, signal: AbortSignal): Promise<Page<Row>> => {
    let cursor = from
    for (let empty = 0; ; empty++) {
      const { data, nextCursor } = await load(cursor === undefined ? {} : { cursor }, signal)
      if (data.length > 0 || nextCursor === undefined || empty === MAX_EMPTY) return { rows: data, nextCursor }
      cursor = nextCursor
    }
  }
  const readAtLeast = async (count: number, signal: AbortSignal): Promise<Page<Row>> => {
    let page = await readOn(undefined, signal)
    while (page.rows.length < count && page.nextCursor !== undefined) {
      const next = await readOn(page.nextCursor, signal)
      page = { ...next, rows: [...page.rows, ...next.rows] }
    }
    return page
  }
  const shown = useRef(0)
  const query = useQuery<Page<Row>>(key, async (signal, isFirst) => {
    const page = await readAtLeast(isFirst ? 0 : shown.current, signal)
    setMoreError(undefined)
    return page
  })
  const { data, error, isLoading, reload, refreshPart, set } = query
  shown.current = data?.rows.length ?? 0
  const nextCursor = data?.nextCursor
  const more = async (cursor: string) => {
    setLoadingMore(true)
    try {
      const next = await readOn(cursor, AbortSignal.timeout(30_000))
      // Another list, or a second answer for the same page, is not added.
      set((page) => (page.nextCursor === cursor ? { ...next, rows: [...page.rows, ...next.rows] } : page))
      setMoreError(undefined)
    } catch (error) {
      setMoreError({ key, error })
    } finally {
      setLoadingMore(false)
    }
  }
  const refresh = (keyOf: (row: Row) => string) => {
    if (data === undefined && error !== undefined) return query.refresh()
    refreshPart(
      (signal) => load({}, signal),
      (page, { data: rows, nextCursor }) => withNewest(page, { rows, nextCursor }, keyOf),
    )
  }
  const setRows = useCallback((change: (rows: Row[]) => Row[]) => set((page) => ({ ...page, rows: change(page.rows) })), [set])
  const loadMore = nextCursor === undefined ? undefined : () => void more(nextCursor)
  return {
    rows: data?.rows,
    error: error ?? (moreError?.key === key ? moreError.error : undefined),
    isLoading,
    more: loadMore,
    isLoadingMore,
    reload,
    retry: error === undefined && loadMore ? loadMore : reload,
    refresh,
    refreshAll: query.refresh,
    set: setRows,
  }
}

/**
 * The page with the newest rows before it. If none of them is known, rows between are missing: the list begins anew. An
 * empty page that more rows follow has no newer ones: it was read on from before.
 */
export function withNewest<Row>(page: Page<Row>, newest: Page<Row>, keyOf: (row: Row) => string): Page<Row> {
  const isWhole = newest.nextCursor === undefined
  if (newest.rows.length === 0 && !isWhole) return page
  const known = new Set(page.rows.map(keyOf))
  // A whole list also tells which rows have gone.
  if (isWhole || !newest.rows.some((row) => known.has(keyOf(row)))) return newest
  const read = new Map(newest.rows.map((row) => [keyOf(row), row]))
  return {
    ...page,
    rows: [...newest.rows.filter((row) => !known.has(keyOf(row))), ...page.rows.map((row) => read.get(keyOf(row)) ?? row)],
  }
}
