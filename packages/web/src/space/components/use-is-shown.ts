import { useLayoutEffect, useRef } from 'preact/hooks'

/** Whether the component is still on the page. A visitor who has gone elsewhere meanwhile is not taken away from there. */
export function useIsShown(): () => boolean {
  const isShown = useRef(true)
  useLayoutEffect(() => () => void (isShown.current = false), [])
  return () => isShown.current
}
