import { useId, useLayoutEffect } from 'preact/hooks'
import { Store } from '../store.ts'
import { useStore } from '../use-store.ts'

interface Announcement {
  readonly id: number
  readonly text: string
  readonly at: number
  /** Where it is read out. */
  readonly place: string | undefined
}

/** Long enough to be read out, and removed before a visitor explores the page. */
const KEPT_MS = 8_000
const MAX_KEPT = 8
/** What a panel says while it closes has not been read out. */
const UNHEARD_MS = 500

/** `places`: the page, and each panel above the one before it. */
const store = new Store<{ said: readonly Announcement[]; places: readonly string[] }>({ said: [], places: [] })
let nextId = 0

/**
 * Announces a message to screen readers (aria-live polite). Each message is an element of its own, so that two
 * messages at once, and the same text twice, are all read out.
 */
export function announce(text: string): void {
  const id = nextId++
  const one = { id, text, at: Date.now(), place: store.value.places.at(-1) }
  store.update({ said: [...store.value.said, one].slice(-MAX_KEPT) })
  setTimeout(() => store.update({ said: store.value.said.filter((one) => one.id !== id) }), KEPT_MS)
}

/**
 * Where messages are announced. A modal panel makes the page behind it silent, so each panel has this element too. A
 * message stays where it was announced: in another place, it would be read out again.
 */
export function Announcer() {
  const place = useId()
  useLayoutEffect(() => {
    store.update({ places: [...store.value.places, place] })
    return () => {
      const places = store.value.places.filter((one) => one !== place)
      const isUnheard = ({ at }: Announcement) => Date.now() - at < UNHEARD_MS
      const said = store.value.said.flatMap((one) =>
        one.place !== place ? [one] : isUnheard(one) ? [{ ...one, place: places.at(-1) }] : [],
      )
      store.update({ places, said })
    }
  }, [])
  const said = useStore(store, (value) => value.said)
  return (
    <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="false" aria-relevant="additions">
      {said.map((one) => one.place === place && <p key={one.id}>{one.text}</p>)}
    </div>
  )
}
