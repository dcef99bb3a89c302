/**
 * Packs cards of different heights. Rows of the grid have one pixel, and each card spans as many rows as it is high.
 * The order of the document stays the reading order. Returns a function that packs again after a change.
 */
export function packRows(items: HTMLElement): () => void {
  let waiting = false
  const pack = () => {
    waiting = false
    items.classList.add('packed')
    const gap = Number.parseFloat(getComputedStyle(items).columnGap) || 16
    const cards = [...items.children] as HTMLElement[]
    // All heights are measured before any is changed.
    const heights = cards.map((card) => card.getBoundingClientRect().height)
    cards.forEach((card, index) => (card.style.gridRowEnd = `span ${Math.ceil((heights[index] ?? 0) + gap)}`))
    for (const card of cards) sizes.observe(card)
  }
  const again = () => {
    if (waiting) return
    waiting = true
    requestAnimationFrame(pack)
  }
  // A card's height changes with the width of the window and when its picture has loaded.
  const sizes = new ResizeObserver(again)
  sizes.observe(items)
  pack()
  return again
}
