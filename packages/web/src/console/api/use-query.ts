import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Query<Data> {
  /** The last answer. It stays while a newer one is loaded. */
  data: Data | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
  /** Replaces the data on this page, after a change that the server has confirmed. */
  set: (change: (data: Data) => Data) => void
}

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
    set,
  }
}
