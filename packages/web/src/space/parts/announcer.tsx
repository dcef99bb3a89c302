import { Store } from '../store.ts'
import { useStore } from '../use-store.ts'

interface Announcement {
  readonly id: number
  readonly text: string
}

/** Long enough to be read out, and removed before a visitor explores the page. */
const KEPT_MS = 8_000
const MAX_KEPT = 8

const store = new Store<{ said: readonly Announcement[] }>({ said: [] })
let nextId = 0

/**
 * Announces a message to screen readers (aria-live polite). Each message is an element of its own, so that two
 * messages at once, and the same text twice, are all read out.
 */
export function announce(text: string): void {
  const id = nextId++
  store.update({ said: [...store.value.said, { id, text }].slice(-MAX_KEPT) })
  setTimeout(() => store.update({ said: store.value.said.filter((one) => one.id !== id) }), KEPT_MS)
}

export function Announcer() {
  const said = useStore(store, (value) => value.said)
  return (
    <div class="unseen" role="status" aria-live="polite" aria-atomic="false" aria-relevant="additions">
      {said.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  )
}
