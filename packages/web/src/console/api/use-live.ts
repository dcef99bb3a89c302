import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useStore } from '../../space/use-store.ts'
import { sessionStore } from './session.ts'

interface Message {
  event: string
  data: unknown
}

/** Opens a stream, such as `followStream(api.streamEvents, { signal })`. */
type Open = (signal: AbortSignal) => AsyncIterable<Message>

/** Calls `handle` with each message of a stream while the component is shown. `key` names the stream. */
export function useMessages(key: string, open: Open, handle: (message: Message) => void): void {
  const latest = useRef({ open, handle })
  latest.current = { open, handle }
  // A new session opens the stream again, because the stream ended with the old session.
  const session = useStore(sessionStore, (value) => value.session)
  useEffect(() => {
    const stop = new AbortController()
    const follow = async () => {
      for await (const message of latest.current.open(stop.signal)) latest.current.handle(message)
    }
    // The page still works without the stream: it has a button or a key that reads again.
    follow().catch(() => undefined)
    return () => stop.abort()
  }, [key, session])
}

interface Live {
  /** The messages of that kind since the last clear(). */
  count: number
  clear: () => void
}

/** Counts the messages of one kind while the component is shown. */
export function useLive(key: string, event: string, open: Open): Live {
  const [count, setCount] = useState(0)
  useMessages(key, open, (message) => message.event === event && setCount((count) => count + 1))
  const clear = useCallback(() => setCount(0), [])
  return { count, clear }
}
