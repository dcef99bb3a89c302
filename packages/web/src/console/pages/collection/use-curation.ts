import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api } from '../../api/api.ts'
import type { Pages } from '../../api/use-pages.ts'
import { showFailure, showToast } from '../../shell/toast-store.ts'

export type Item = Awaited<ReturnType<typeof api.listItems>>['data']['items'][number]
export type Flag = 'approved' | 'archived' | 'hero'

interface Change {
  itemId: string
  flag: Flag
  before: boolean
  /** The hero that a new hero replaced. */
  replaced: string | undefined
}

const words: Record<Flag, readonly [on: string, off: string]> = {
  approved: ['Approved', 'No longer approved'],
  archived: ['Archived', 'Back from the archive'],
  hero: ['Hero', 'No longer the hero'],
}

/** The flags are independent of each other: the server keeps a hero that visitors do not see. */
function noteOf({ hero, archived, approved }: Item): string {
  if (!hero || (approved && !archived)) return ''
  return `. Visitors do not see the hero: it is ${archived ? 'archived' : 'not approved'}.`
}

/**
 * Changes the flags of items. Each change appears at once and is sent in the order of the key presses; one that the
 * server refuses is taken back. `undo` takes back the last one.
 */
export function useCuration(collectionId: string, pages: Pages<Item>) {
  const queue = useRef(Promise.resolve())
  const done = useRef<Change[]>([])
  const [canUndo, setCanUndo] = useState(false)
  // Keys can be pressed faster than the page is rendered: what is not rendered yet is here.
  const rows = useRef<readonly Item[]>([])
  useLayoutEffect(() => void (rows.current = pages.rows ?? []), [pages.rows])

  const show = (itemId: string, flag: Flag, value: boolean) => {
    const change = (all: readonly Item[]) =>
      all.map((row) => {
        if (row.id === itemId) return { ...row, [flag]: value }
        // There is one hero at most.
        return flag === 'hero' && value && row.hero ? { ...row, hero: false } : row
      })
    rows.current = change(rows.current)
    pages.set(change)
  }
  const keep = (changes: Change[]) => {
    done.current = changes
    setCanUndo(changes.length > 0)
  }
  const send = (itemId: string, flag: Flag, value: boolean, takeBack: () => void) => {
    show(itemId, flag, value)
    queue.current = queue.current.then(async () => {
      try {
        await api.curateItem({ id: collectionId, itemId, body: { [flag]: value } })
      } catch (error) {
        takeBack()
        showFailure(error)
      }
    })
  }
  const toggle = (itemId: string, flag: Flag) => {
    const item = rows.current.find(({ id }) => id === itemId)
    if (!item) return
    const before = item[flag]
    const replaced = flag === 'hero' && !before ? rows.current.find(({ hero }) => hero)?.id : undefined
    const change: Change = { itemId, flag, before, replaced }
    keep([...done.current, change])
    send(itemId, flag, !before, () => {
      show(itemId, flag, before)
      if (replaced !== undefined) show(replaced, 'hero', true)
      keep(done.current.filter((one) => one !== change))
    })
    showToast(`${words[flag][before ? 1 : 0]}${noteOf({ ...item, [flag]: !before })}`, { label: 'Undo', run: () => undo() })
  }
  const undo = () => {
    const last = done.current.at(-1)
    if (!last) return showToast('There is nothing to undo')
    keep(done.current.slice(0, -1))
    const { itemId, flag, before, replaced } = last
    if (replaced === undefined) send(itemId, flag, before, () => show(itemId, flag, !before))
    else send(replaced, 'hero', true, () => show(itemId, 'hero', true))
    showToast('Undone')
  }
  return { toggle, undo, canUndo }
}
