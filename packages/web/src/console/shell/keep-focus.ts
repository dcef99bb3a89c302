import { useLayoutEffect } from 'preact/hooks'

const controls = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), [tabindex="0"]'

/** The element that had the focus last and those around it, from the inside outwards. */
let last: readonly Element[] = []

/** An element and those around it. To be noted while the element is in the page: afterwards, nothing is around it. */
export function withAncestors(element: Element | null): readonly Element[] {
  const around: Element[] = []
  for (let one = element; one; one = one.parentElement) around.push(one)
  return around
}

/** Makes the first of these elements the one that gets the focus when it is lost, as soon as it can take it. */
export function expectFocus(around: readonly Element[]): void {
  last = around
  restore()
}

/**
 * Keeps the focus near to where it was. A browser drops it when the focused button is disabled during an action, or is
 * removed with its row, and somebody who uses the keyboard would begin again at the top of the page.
 */
export function useKeptFocus(): void {
  useLayoutEffect(() => {
    const note = ({ target }: Event) => expectFocus(withAncestors(target as Element))
    // A click beside every control gives the focus up deliberately.
    const forget = () => void (last = [])
    const watch = new MutationObserver(restore)
    watch.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] })
    addEventListener('focusin', note)
    addEventListener('pointerdown', forget)
    return () => {
      watch.disconnect()
      removeEventListener('focusin', note)
      removeEventListener('pointerdown', forget)
    }
  }, [])
}

function restore(): void {
  if (document.activeElement && document.activeElement !== document.body) return
  const [element] = last
  if (!(element instanceof HTMLElement)) return
  // A button that is disabled for as long as its action runs.
  if (element.isConnected) return element.focus({ preventScroll: true })
  const main = document.querySelector<HTMLElement>('main')
  const place = last.find((one) => one.isConnected)
  const next = place && main?.contains(place) && place !== main ? place.querySelector<HTMLElement>(controls) : undefined
  ;(next ?? main)?.focus({ preventScroll: true })
}
