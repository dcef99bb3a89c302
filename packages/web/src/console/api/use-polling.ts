import { useEffect, useRef } from 'preact/hooks'

/** How often the newest page of a list is read that no stream tells of. */
export const LIVE_MS = 3_000

/**
 * Calls `read` every `everyMs` while the page is visible, and at once when it becomes visible again after longer than
 * that. A hidden page asks for nothing.
 */
export function usePolling(read: () => void, everyMs: number): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    let timer: ReturnType<typeof setInterval> | undefined
    let lastMs = performance.now()
    const run = () => {
      lastMs = performance.now()
      latest.current()
    }
    const follow = () => {
      clearInterval(timer)
      timer = undefined
      if (document.visibilityState === 'hidden') return
      if (performance.now() - lastMs >= everyMs) run()
      timer = setInterval(run, everyMs)
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', follow)
    }
  }, [everyMs])
}
