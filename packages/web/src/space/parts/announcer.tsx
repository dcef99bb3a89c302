import { Store } from '../store.ts'
import { useStore } from '../use-store.ts'

const store = new Store<{ text: string }>({ text: '' })

/** Announces a message to screen readers (aria-live polite). */
export function announce(text: string): void {
  // The same words twice are two texts, else the second would not be said.
  store.update({ text: store.value.text === text ? `${text}\u00a0` : text })
}

export function Announcer() {
  const text = useStore(store, (value) => value.text)
  return (
    <div class="unseen" role="status" aria-live="polite">
      {text}
    </div>
  )
}
