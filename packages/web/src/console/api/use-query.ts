import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useStore } from '../../space/use-store.ts'
import { sessionStore } from './session.ts'
import { OrderedReads } from './ordered-reads.ts'

export interface Query<Data> {
  /** The last answer. It stays while a newer one is loaded. */
  data: Data | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
  /** Reads again in the background. What is shown stays until the answer is there. */
  refresh: () => void
  /** Reads a part in the background and merges it into the data. If that fails, what is shown stays, without an error. */
  refreshPart: <Part>(ask: (signal: AbortSignal) => Promise<Part>, merge: (data: Data, part: Part) => Data) => void
  /** Replaces the data on this page, after a change that the server has confirmed. */
  set: (change: (data: Data) => Data) => void
}

/** A reading that takes longer is given up, so that the next one is sent. */
const MAX_MS = { first: 60_000, refresh: 20_000 }

const withTimeout = (signal: AbortSignal, ms = MAX_MS.refresh) => AbortSignal.any([signal, AbortSignal.timeout(ms)])

/**
 * Loads data when the component appears and when `key` changes. `load` is told whether it is a first load, or a refresh of
 * what is shown. No answer replaces a newer one, or what was set after its
 * request was sent.
 */
export function useQuery<Data>(key: string, load: (signal: AbortSignal, isFirst: boolean) => Promise<Data>): Query<Data> {
  const [state, setState] = useState<{ key: string; data: Data | undefined; error: unknown; isLoading: boolean }>({
    key,
    data: undefined,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  // A new session reads again what was refused after the old one had ended.
  const session = useStore(sessionStore, (value) => value.session)
  const latest = useRef(load)
  latest.current = load
  const reads = useRef<OrderedReads>(undefined)
  const read = useCallback((isFirst: boolean) => {
    reads.current?.start({
      ask: async (signal) => {
        const data = await latest.current(withTimeout(signal, isFirst ? MAX_MS.first : MAX_MS.refresh), isFirst)
        return () => setState((before) => ({ ...before, data, error: undefined, isLoading: false }))
      },
      onError: (error) => setState((before) => ({ ...before, error, isLoading: false })),
      isWhole: true,
    })
  }, [])
  useEffect(() => {
    const stop = new AbortController()
    setState((before) => ({ key, data: before.key === key ? before.data : undefined, error: undefined, isLoading: true }))
    reads.current = new OrderedReads(stop.signal)
    read(true)
    return () => stop.abort()
  }, [key, turn, session])
  const reload = useCallback(() => setTurn((turn) => turn + 1), [])
  const refresh = useCallback(() => read(false), [])
  const refreshPart: Query<Data>['refreshPart'] = useCallback((ask, merge) => {
    reads.current?.start({
      ask: async (signal) => {
        const part = await ask(withTimeout(signal))
        return () => setState((before) => (before.data === undefined ? before : { ...before, data: merge(before.data, part) }))
      },
      onError: () => undefined,
      isWhole: false,
    })
  }, [])
  const set = useCallback((change: (data: Data) => Data) => {
    reads.current?.outdate()
    setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) }))
  }, [])
  const isCurrent = state.key === key
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload,
    refresh,
    refreshPart,
    set,
  }
}
