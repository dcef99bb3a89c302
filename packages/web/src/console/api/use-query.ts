import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Query<Data> {
  /** The last answer. It stays while a newer one is loaded. */
  data: Data | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
  /** Reads again in the background. What is shown stays until the answer is there. */
  refresh: () => void
  /** Replaces the data on this page, after a change that the server has confirmed. */
  set: (change: (data: Data) => Data) => void
}

/** A reading in the background that takes longer is given up, so that the next one is sent. */
const REFRESH_MS = 20_000

/**
 * Loads data when the component appears and when `key` changes. An answer that arrives after a newer request is
 * dropped.
 */
export function useQuery<Data>(key: string, load: (signal: AbortSignal) => Promise<Data>): Query<Data> {
  const [state, setState] = useState<{ key: string; data: Data | undefined; error: unknown; isLoading: boolean }>({
    key,
    data: undefined,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    const stop = new AbortController()
    setState((before) => ({ key, data: before.key === key ? before.data : undefined, error: undefined, isLoading: true }))
    latest.current(stop.signal).then(
      (data) => stop.signal.aborted || setState({ key, data, error: undefined, isLoading: false }),
      (error: unknown) => stop.signal.aborted || setState((before) => ({ ...before, error, isLoading: false })),
    )
    return () => stop.abort()
  }, [key, turn])
  const reload = useCallback(() => setTurn((turn) => turn + 1), [])
  const refreshing = useRef<AbortController>(undefined)
  useEffect(() => () => refreshing.current?.abort(), [key, turn])
  const refresh = useCallback(() => {
    if (refreshing.current) return
    const stop = new AbortController()
    refreshing.current = stop
    const show = (change: { data: Data; error: undefined } | { error: unknown }) =>
      stop.signal.aborted || setState((before) => ({ ...before, ...change, isLoading: false }))
    latest
      .current(AbortSignal.any([stop.signal, AbortSignal.timeout(REFRESH_MS)]))
      .then(
        (data) => show({ data, error: undefined }),
        (error: unknown) => show({ error }),
      )
      .finally(() => (refreshing.current = undefined))
  }, [])
  const set = useCallback(
    (change: (data: Data) => Data) =>
      setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) })),
    [],
  )
  const isCurrent = state.key === key
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload,
    refresh,
    set,
  }
}
