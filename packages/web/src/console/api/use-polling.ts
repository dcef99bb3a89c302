import { useEffect, useRef, useState } from 'preact/hooks'

/** How often the newest page of a list is read if no event stream reports its changes. */
export const LIVE_MS = 3_000

/** How often figures of days and hours are read again. Nobody waits for their changes. */
export const FIGURES_MS = 30_000

/**
 * Calls `read` every `everyMs` while the page is visible, and at once when it becomes visible again after longer than
 * that. A hidden page sends no requests.
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

/** When to read again after a change: soon, and until most of the work that the change started is done. */
const AFTER_MS = [300, 1_000, 2_000]

/** Calls `read` soon after `changes` has changed. Returns whether such a call is still to come. */
export function useReadsAfter(changes: number, read: () => void): boolean {
  const latest = useRef(read)
  latest.current = read
  const [settled, setSettled] = useState(changes)
  const first = useRef(changes)
  useEffect(() => {
    if (changes === first.current) return
    const timers = AFTER_MS.map((ms) => setTimeout(() => latest.current(), ms))
    timers.push(setTimeout(() => setSettled(changes), (AFTER_MS.at(-1) ?? 0) + 500))
    return () => timers.forEach((timer) => clearTimeout(timer))
  }, [changes])
  return settled !== changes
}
