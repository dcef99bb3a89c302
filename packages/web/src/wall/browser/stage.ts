/** How long an item stays on the stage. Longer texts stay longer. */
const leastMs = 7_000
const perCharacterMs = 35
const mostMs = 24_000

export interface Stage {
  /** Shows this item next, at once. */
  show(item: Element): void
  /** The list has changed. */
  changed(): void
}

/** Shows the items of a list one after the other. */
export function startStage(items: HTMLElement, isPaused: () => boolean): Stage {
  let timer: number | undefined
  document.body.classList.add('playing')
  const show = (item: Element | null) => {
    clearTimeout(timer)
    if (item && !item.classList.contains('current')) {
      items.querySelector('.current')?.classList.remove('current')
      item.classList.add('current')
      document.scrollingElement?.scrollTo({ top: 0 })
    }
    const characters = item?.textContent?.length ?? 0
    timer = window.setTimeout(next, Math.min(mostMs, leastMs + characters * perCharacterMs))
  }
  const next = () => {
    const current = items.querySelector('.current')
    if (isPaused() || document.hidden) show(current)
    else show(current?.nextElementSibling ?? items.firstElementChild)
  }
  show(items.firstElementChild)
  return {
    show,
    changed: () => {
      if (!items.querySelector('.current')) show(items.firstElementChild)
    },
  }
}
