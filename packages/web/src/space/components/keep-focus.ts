/**
 * Keeps the focus in a dialog, or in the room, whose rows change. A browser drops the focus when the button that has it
 * is removed. It then goes to the nearest that is left: the row or message of the button, the row beside it, the
 * heading of the section, or `fallback`. It never goes to another button, because a key that was meant for the removed
 * one would press that. Returns a function that ends this.
 */
export function keepFocus(place: HTMLElement, fallback: HTMLElement): () => void {
  let last: EventTarget | null = null
  let row: Element | null = null
  /** The rows and the section near that element. They are noted while it is in the page: a removed one has no neighbours. */
  let near: readonly Element[] = []
  const note = ({ target }: FocusEvent) => {
    last = target
    row = (target as Element).closest('li, article')
    near = [row, row?.nextElementSibling, row?.previousElementSibling, (target as Element).closest('section')].filter(
      (one) => one instanceof Element,
    )
  }
  const restore = () => {
    if (!(last instanceof Element) || last.isConnected || document.activeElement !== document.body) return
    const left = near.find((one) => one.isConnected)
    const next = left?.localName === 'section' ? left.querySelector('h3') : left
    const target = next instanceof HTMLElement ? next : fallback
    // A message may be the Tab stop of its list, and stays that.
    if (!target.hasAttribute('tabindex')) target.tabIndex = -1
    // The row of the removed button is already visible. Without preventScroll, the browser would still scroll if the row
    // is a message that is longer than the list.
    target.focus({ preventScroll: target === row })
  }
  const watch = new MutationObserver(restore)
  watch.observe(place, { subtree: true, childList: true })
  place.addEventListener('focusin', note)
  return () => {
    watch.disconnect()
    place.removeEventListener('focusin', note)
  }
}
