import { useLayoutEffect, useRef } from 'preact/hooks'
import type { RoomSession } from '../room/room-session.ts'

interface Anchor {
  readonly element: Element
  readonly top: number
}

/**
 * Keeps the visible messages in place when something is added below them. The scroller counts from its end, so all of
 * them would move; some browsers correct this in some cases only. The position of a message is recorded before the
 * list renders, and restored afterwards.
 */
export function useStill(scroller: { current: HTMLDivElement | null }, session: RoomSession, isAway: () => boolean): void {
  const anchor = useRef<Anchor | undefined>(undefined)
  useLayoutEffect(() => {
    let { chunks, pending } = session.state.value
    return session.state.subscribe(() => {
      const { value } = session.state
      if (value.chunks === chunks && value.pending === pending) return
      ;({ chunks, pending } = value)
      // The store has changed, the page has not yet.
      if (isAway()) anchor.current ??= findAnchor(scroller.current)
      if (anchor.current && scroller.current) scroller.current.style.overflowAnchor = 'none'
    })
  }, [session])
  useLayoutEffect(() => {
    const element = scroller.current
    if (!anchor.current || !element) return
    element.scrollTop += anchor.current.element.getBoundingClientRect().top - anchor.current.top
    anchor.current = undefined
    // The browser takes over again two frames later, when it has seen the new position.
    requestAnimationFrame(() => requestAnimationFrame(() => (element.style.overflowAnchor = '')))
  })
}

function findAnchor(scroller: HTMLElement | null): Anchor | undefined {
  if (!scroller) return undefined
  const { left, top, width, height } = scroller.getBoundingClientRect()
  for (const part of [0.5, 0.3, 0.7]) {
    const element = document.elementFromPoint(left + width / 2, top + height * part)?.closest('.message')
    if (element) return { element, top: element.getBoundingClientRect().top }
  }
  return undefined
}
