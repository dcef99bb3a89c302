import { itemElement } from '../item-element.ts'
import { readWallItem, summaryOf, type OpenItem } from '../wall-item.ts'
import { byId, makeElement } from './make-element.ts'
import { loadPage } from './load-page.ts'
import { counted, language, words } from './words.ts'

/** The most items that the page keeps. Beyond that, the newest page replaces the list. */
const maxItems = 120
const leavingMs = 250
/** Many viewers request the page again after the same item, so they spread over some seconds. */
const refreshSpreadMs = 4_000
/** How often the delay doubles when a page cannot be loaded: up to about a minute. */
const maxDoublings = 4

interface BoardOptions {
  items: HTMLElement
  /** Whether the page shows the newest items. An older page is only kept up to date. */
  isNewest: boolean
  /** Whether new items wait until the reader asks for them. */
  mustWait: () => boolean
  onArrived: (item: HTMLElement, summary: string) => void
  onChanged: () => void
}

/** The list of items, kept up to date. */
export class Board {
  readonly #options: BoardOptions
  readonly #waiting = new Map<string, OpenItem>()
  /** How many came when as many as the page keeps waited already. The newest page has them. */
  #more = 0
  /**
   * Items that arrived, changed or were removed after a new page was requested. That page may not contain these changes
   * yet.
   */
  #since: { arrived: Set<string>; changed: Set<string>; removed: Set<string> } | undefined
  #refreshTimer: number | undefined
  /** A page was asked for and did not arrive, or the stream has a gap: the list is replaced also if items wait. */
  #mustReplace = false
  /** How many loads of the page have failed in a row. */
  #failures = 0

  constructor(options: BoardOptions) {
    this.#options = options
    byId('fresh').addEventListener('click', () => {
      this.showWaiting()
      document.scrollingElement?.scrollTo({ top: 0 })
      // The button is gone, and the focus with it.
      options.items.tabIndex = -1
      options.items.focus({ preventScroll: true })
    })
  }

  put(open: OpenItem): void {
    const shown = this.#find(open.id)
    const item = readWallItem(open, words)
    if (!item) return this.remove(open.id)
    this.#since?.removed.delete(open.id)
    if (!shown && (!this.#options.isNewest || this.#isBeyond(open))) return
    if (!shown && this.#options.mustWait()) {
      if (this.#waiting.size < maxItems || this.#waiting.has(open.id)) this.#waiting.set(open.id, open)
      else this.#more++
      this.#since?.arrived.add(open.id)
      return this.#showCount()
    }
    this.#waiting.delete(open.id)
    const made = makeElement(itemElement(item, { language }))
    if (shown) {
      // Only the server knows whether a picture may be shown. A picture that was shown before stays.
      const figure = item.artifactId === undefined ? null : shown.querySelector('figure')
      if (figure) made.prepend(figure)
      for (const name of ['current', 'leaving'])
        if (shown.classList.contains(name) && name === 'current') made.classList.add(name)
      shown.replaceWith(made)
      this.#since?.changed.add(open.id)
    } else {
      made.classList.add('arrived')
      this.#place(made, open.created_at)
      this.#since?.arrived.add(open.id)
      this.#options.onArrived(made, summaryOf(item))
    }
    if (item.artifactId !== undefined && !made.querySelector('figure')) this.refreshSoon()
    if (this.#options.items.childElementCount > maxItems) this.refreshSoon()
    this.#changed()
  }

  remove(id: string): void {
    this.#since?.removed.add(id)
    this.#since?.arrived.delete(id)
    if (this.#waiting.delete(id)) this.#showCount()
    const shown = this.#find(id)
    if (!shown) return
    // An item with the same id may arrive in the meantime.
    shown.removeAttribute('id')
    shown.classList.remove('current')
    shown.classList.add('leaving')
    setTimeout(() => {
      shown.remove()
      this.#changed()
    }, leavingMs)
  }

  /** Shows what has waited for the reader. */
  showWaiting(): void {
    if (this.#more > 0) return void this.#replace()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    const { mustWait } = this.#options
    this.#options.mustWait = () => false
    for (const open of waiting) this.put(open)
    this.#options.mustWait = mustWait
    this.#showCount()
  }

  /** The stream did not have every change. */
  reset(): void {
    this.#mustReplace = true
    this.refreshSoon()
  }

  refreshSoon(): void {
    const delayMs = (1_000 + Math.random() * refreshSpreadMs) * 2 ** Math.min(this.#failures, maxDoublings)
    this.#refreshTimer ??= window.setTimeout(() => void this.#refresh(), delayMs)
  }

  /** Replaces the list with that of a fresh page. */
  async #refresh(): Promise<void> {
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = undefined
    // The newest page has what waits. The list is replaced when the reader asks for it.
    if (this.#more === 0 || this.#mustReplace || !this.#options.mustWait()) await this.#replace()
  }

  async #replace(): Promise<void> {
    // One load at a time: a second one would not know of the changes that arrived before it began.
    if (this.#since) return this.refreshSoon()
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = undefined
    // Another reset during the load sets it again.
    this.#mustReplace = false
    const since = (this.#since = { arrived: new Set<string>(), changed: new Set<string>(), removed: new Set<string>() })
    const page = await loadPage()
    this.#since = undefined
    if (!page) {
      this.#failures++
      this.#mustReplace = true
      // Nothing else asks for it again: the stream goes on after the message that asked for it.
      return this.refreshSoon()
    }
    this.#failures = 0
    if (this.#more > 0) {
      this.#waiting.clear()
      this.#more = 0
    }
    // What waits may have been removed while the page was not connected.
    const listed = new Set([...page.items].map(({ id }) => id))
    for (const id of this.#waiting.keys()) if (!listed.has(id) && !since.arrived.has(id)) this.#waiting.delete(id)
    this.#showCount()
    const { items } = this.#options
    const fresh = [...page.items]
      .filter(({ id }) => !since.removed.has(id) && !this.#waiting.has(id))
      .map((item) => (since.changed.has(item.id) && this.#find(item.id)) || item)
    const known = new Set(fresh.map(({ id }) => id))
    const early = [...items.children].filter(({ id }) => since.arrived.has(id) && !known.has(id))
    const current = items.querySelector('.current')?.id
    items.replaceChildren(...early, ...fresh)
    if (current) this.#find(current)?.classList.add('current')
    byId('pages').replaceWith(page.pages)
    byId('empty').replaceWith(page.empty)
    this.#changed()
  }

  #find(id: string): HTMLElement | null {
    return this.#options.items.querySelector<HTMLElement>(`:scope > #${CSS.escape(id)}`)
  }

  /** Whether an item belongs on an older page: it was made visible again long after it was written. */
  #isBeyond({ created_at: createdAt }: OpenItem): boolean {
    const hasOlder = document.querySelector('#pages [rel=next]') !== null
    const last = this.#options.items.lastElementChild
    return hasOlder && last !== null && createdAt < timeOf(last)
  }

  #place(made: HTMLElement, createdAt: string): void {
    const { items } = this.#options
    const before = [...items.children].find((item) => timeOf(item) <= createdAt)
    items.insertBefore(made, before ?? null)
  }

  #showCount(): void {
    const button = byId('fresh')
    const count = this.#waiting.size + this.#more
    button.hidden = count === 0
    if (count > 0) button.textContent = counted(words.fresh, count)
  }

  #changed(): void {
    byId('empty').hidden = this.#options.items.childElementCount > 0
    this.#options.onChanged()
  }
}

function timeOf(item: Element): string {
  return item.querySelector('time')?.dateTime ?? ''
}
