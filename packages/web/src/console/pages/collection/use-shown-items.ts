import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Pages } from '../../api/use-pages.ts'
import type { Flag, Item } from './use-curation.ts'

/** The items of the list, and changes to them that appear at once. */
export function useShownItems(pages: Pages<Item>) {
  // Keys can be pressed faster than the page is rendered: what is not rendered yet is here.
  const rows = useRef<readonly Item[]>([])
  useLayoutEffect(() => void (rows.current = pages.rows ?? []), [pages.rows])
  const change = (apply: (all: readonly Item[]) => Item[]) => {
    rows.current = apply(rows.current)
    pages.set(apply)
  }
  return {
    find: (isMeant: (item: Item) => boolean) => rows.current.filter(isMeant),
    show: (itemIds: readonly string[], flag: Flag, value: boolean) => {
      const meant = new Set(itemIds)
      change((all) =>
        all.map((row) => {
          if (meant.has(row.id)) return { ...row, [flag]: value }
          // There is one hero at most.
          return flag === 'hero' && value && row.hero ? { ...row, hero: false } : row
        }),
      )
    },
    remove: (itemIds: readonly string[]) => {
      const meant = new Set(itemIds)
      if (meant.size > 0) change((all) => all.filter(({ id }) => !meant.has(id)))
    },
  }
}
