/**
 * Keeps the focus in a dialog whose rows change. A browser drops it when the button that has it is removed. It then goes to
 * the nearest that is left: the row of the button, the row beside it, or the heading of the section or of the dialog. It
 * never goes to another button, because a key that was meant for the removed one would press that. Returns a function that
 * ends this.
 */
export function keepFocus(dialog: HTMLElement, heading: HTMLElement): () => void {
  let last: EventTarget | null = null
  /** The rows and the section near that element. They are noted while it is in the page: a removed one has no neighbours. */
  let near: readonly Element[] = []
  const note = ({ target }: FocusEvent) => {
    last = target
    const row = (target as Element).closest('li')
    near = [row, row?.nextElementSibling, row?.previousElementSibling, (target as Element).closest('section')].filter(
      (one) => one instanceof Element,
    )
  }
  const restore = () => {
    if (!(last instanceof Element) || last.isConnected || document.activeElement !== document.body) return
    const place = near.find((one) => one.isConnected)
    const next = place?.localName === 'section' ? place.querySelector('h3') : place
    const target = next instanceof HTMLElement ? next : heading
    target.tabIndex = -1
    target.focus()
  }
  const watch = new MutationObserver(restore)
  watch.observe(dialog, { subtree: true, childList: true })
  dialog.addEventListener('focusin', note)
  return () => {
    watch.disconnect()
    dialog.removeEventListener('focusin', note)
  }
}
