import type { Entry } from '@atrium/room-client/space-ops'

interface MessageKeys {
  readonly onReply: (entry: Entry) => void
  readonly onCopy: (entry: Entry) => void
  readonly onLeave: () => void
}

const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowUp: (at) => at - 1,
  ArrowDown: (at) => at + 1,
  PageUp: (at) => at - 10,
  PageDown: (at) => at + 10,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/**
 * The list of messages is one Tab stop, however many messages there are. The arrow keys move between messages, and
 * the Tab key reaches links and buttons only within the focused message.
 */
export function messageKeys(
  list: HTMLElement,
  find: (id: string) => Entry | undefined,
  { onReply, onCopy, onLeave }: MessageKeys,
): () => void {
  const stopper = new AbortController()
  const { signal } = stopper
  let current: HTMLElement | undefined

  const choose = (message: HTMLElement) => {
    if (message === current) return
    if (current) setStops(current, -1)
    current = message
    setStops(message, 0)
  }

  list.addEventListener(
    'focusin',
    ({ target }) => {
      const message = target instanceof Element ? target.closest<HTMLElement>('.message') : null
      if (message) choose(message)
    },
    { signal },
  )
  list.addEventListener(
    'keydown',
    (event) => {
      const { target } = event
      if (!(target instanceof HTMLElement)) return
      if (event.key === 'Escape') return onLeave()
      if (!target.matches('.message') || event.ctrlKey || event.metaKey || event.altKey) return
      const entry = find(target.id.slice(2))
      if (entry && (event.key === 'r' || event.key === 'R' || event.key === 'Enter')) {
        event.preventDefault()
        return onReply(entry)
      }
      if (entry && (event.key === 'c' || event.key === 'C')) {
        event.preventDefault()
        return onCopy(entry)
      }
      const step = STEPS[event.key]
      if (!step) return
      event.preventDefault()
      const all = [...list.querySelectorAll<HTMLElement>('.message')]
      const next = all[Math.min(Math.max(step(all.indexOf(target), all.length), 0), all.length - 1)]
      next?.focus({ preventScroll: true })
      next?.scrollIntoView({ block: 'nearest' })
    },
    { signal },
  )
  return () => stopper.abort()
}

function setStops(message: HTMLElement, tabIndex: 0 | -1): void {
  message.tabIndex = tabIndex
  for (const element of message.querySelectorAll<HTMLElement>('a, button')) element.tabIndex = tabIndex
}

/** Moves the focus from the composer to the message that last had it, or to the newest. */
export function focusMessages(): void {
  const all = document.querySelectorAll<HTMLElement>('.message')
  const last = all[all.length - 1]
  last?.focus({ preventScroll: true })
  last?.scrollIntoView({ block: 'nearest' })
}
