import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { showFailure, showToast } from '../shell/toast-store.ts'

/**
 * Runs actions of a component one at a time. A failure appears as a toast with its code and request id. Resolves to
 * whether the action succeeded.
 */
export function useAction(): [isBusy: boolean, run: (act: () => Promise<void>, done?: string) => Promise<boolean>] {
  const [isBusy, setBusy] = useState(false)
  const running = useRef(false)
  const isMounted = useRef(true)
  useEffect(() => () => void (isMounted.current = false), [])
  const run = useCallback(async (act: () => Promise<void>, done?: string) => {
    if (running.current) return false
    running.current = true
    setBusy(true)
    try {
      await act()
      if (done !== undefined) showToast(done)
      return true
    } catch (error) {
      showFailure(error)
      return false
    } finally {
      running.current = false
      if (isMounted.current) setBusy(false)
    }
  }, [])
  return [isBusy, run]
}
