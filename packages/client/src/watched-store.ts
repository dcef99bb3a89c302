/** A value that components read, and the work that keeps it current while at least one of them is subscribed. */
export interface WatchedStore<State> {
  subscribe: (onChange: () => void) => () => void
  getState: () => State
}

/**
 * Makes a store whose work begins with its first subscriber and is aborted after the last one has unsubscribed.
 * Nothing runs during rendering on a server, or for a component that is never mounted. Changes within one turn of
 * the event loop are reported once.
 */
export function watchedStore<State>(
  initial: State,
  work: (set: (change: (state: State) => State) => void, signal: AbortSignal) => Promise<void>,
  failed: (state: State, error: unknown) => State,
): WatchedStore<State> {
  const listeners = new Set<() => void>()
  let state = initial
  let running: AbortController | undefined
  let telling = false
  const tell = () => {
    telling = false
    for (const listener of listeners) listener()
  }
  const start = async (here: AbortController) => {
    const set = (change: (state: State) => State) => {
      // Results that were requested before the abort may still arrive.
      if (here.signal.aborted) return
      state = change(state)
      if (telling) return
      telling = true
      queueMicrotask(tell)
    }
    try {
      await work(set, here.signal)
    } catch (error) {
      set((before) => failed(before, error))
    }
  }
  return {
    subscribe: (onChange) => {
      // The same function may subscribe twice.
      const listener = () => onChange()
      listeners.add(listener)
      if (!running) void start((running = new AbortController()))
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        running?.abort()
        running = undefined
      }
    },
    getState: () => state,
  }
}
