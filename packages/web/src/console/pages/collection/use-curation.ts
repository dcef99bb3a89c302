import { useRef, useState } from 'preact/hooks'
import { api } from '../../api/api.ts'
import type { Pages } from '../../api/use-pages.ts'
import { showFailure, showOutcome, showToast } from '../../shell/toast-store.ts'
import { curateMany, type Outcome, outcomeWords } from './curate-many.ts'
import { itemName } from './item-words.ts'
import { useShownItems } from './use-shown-items.ts'

export type Item = Awaited<ReturnType<typeof api.listItems>>['data']['items'][number]
export type Flag = 'approved' | 'archived' | 'hero'

interface OneChange {
  itemId: string
  flag: Flag
  before: boolean
  /** The hero that a new hero replaced. If it is on no page that is loaded, it is known once the change was sent. */
  replaced: string | undefined
}

interface ManyChanges {
  flag: 'approved' | 'archived'
  value: boolean
  /** The items that were not so before: those that differ on this page, until the server has answered. */
  itemIds: readonly string[]
}

export type BulkAction = 'approve' | 'unapprove' | 'archive' | 'restore' | 'delete'

const flags = {
  approve: { flag: 'approved', value: true },
  unapprove: { flag: 'approved', value: false },
  archive: { flag: 'archived', value: true },
  restore: { flag: 'archived', value: false },
} as const

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

/** Runs tasks one after the other, in the order in which they come. */
function useQueue() {
  const last = useRef(Promise.resolve())
  return <Result>(task: () => Promise<Result>): Promise<Result> => {
    const result = last.current.then(task)
    // The caller gets an error. The next task runs in any case.
    last.current = result.then(
      () => undefined,
      () => undefined,
    )
    return result
  }
}

/**
 * Changes the flags of items. Each change appears at once and is sent in the order of the key presses; one that the
 * server refuses is taken back. `undo` takes back the last one, and the message of a change the change that it is about.
 */
export function useCuration(collectionId: string, pages: Pages<Item>) {
  const enqueue = useQueue()
  const done = useRef<(OneChange | ManyChanges)[]>([])
  const [canUndo, setCanUndo] = useState(false)
  const { find, show, remove } = useShownItems(pages)
  const keep = (changes: (OneChange | ManyChanges)[]) => {
    done.current = changes
    setCanUndo(changes.length > 0)
  }
  const drop = (change: OneChange | ManyChanges) => keep(done.current.filter((one) => one !== change))
  const curate = (itemId: string, flag: Flag, value: boolean) =>
    api.curateItem({ id: collectionId, itemId, body: { [flag]: value } })
  /** Sends a change that is shown already. */
  const send = (act: () => Promise<unknown>, takeBack: () => void) =>
    void enqueue(async () => {
      try {
        await act()
      } catch (error) {
        takeBack()
        showFailure(error)
      }
    })
  const findOtherHero = async (itemId: string) => {
    const { data } = await api.listItems({ id: collectionId, query: { hero: true, limit: 1 } })
    return data.items.find(({ id }) => id !== itemId)?.id
  }
  const toggle = (itemId: string, flag: Flag) => {
    const item = find(({ id }) => id === itemId)[0]
    if (!item) return
    const before = item[flag]
    const isNewHero = flag === 'hero' && !before
    const change: OneChange = { itemId, flag, before, replaced: isNewHero ? find(({ hero }) => hero)[0]?.id : undefined }
    keep([...done.current, change])
    show([itemId], flag, !before)
    const act = async () => {
      if (isNewHero) change.replaced ??= await findOtherHero(itemId)
      await curate(itemId, flag, !before)
    }
    send(act, () => {
      show([itemId], flag, before)
      if (change.replaced !== undefined) show([change.replaced], 'hero', true)
      drop(change)
    })
    showToast(`${sentence(item, flag, !before)}${noteOf({ ...item, [flag]: !before })}`, undoOf(change))
  }

  /** Shows what became of several items. */
  const report = (word: string, outcome: Outcome, action?: ReturnType<typeof undoOf>) => {
    remove(outcome.gone)
    showOutcome(outcomeWords(word, outcome), outcome.error, outcome.changed.length > 0 ? action : undefined)
  }
  const setMany = async (itemIds: readonly string[], flag: 'approved' | 'archived', value: boolean): Promise<Outcome> => {
    const differing = find((item) => itemIds.includes(item.id) && item[flag] !== value).map(({ id }) => id)
    const change: ManyChanges = { flag, value, itemIds: differing }
    keep([...done.current, change])
    show(itemIds, flag, value)
    return enqueue(async () => {
      const outcome = await curateMany(collectionId, itemIds, { patch: patchOf(flag, value) })
      change.itemIds = outcome.changed
      if (outcome.changed.length === 0) drop(change)
      const kept = new Set(outcome.failed)
      show(
        differing.filter((id) => kept.has(id)),
        flag,
        !value,
      )
      report(words[flag][value ? 0 : 1].toLowerCase(), outcome, undoOf(change))
      return outcome
    })
  }
  const removeMany = (itemIds: readonly string[]): Promise<Outcome> =>
    enqueue(async () => {
      const outcome = await curateMany(collectionId, itemIds, { delete: true })
      remove(outcome.changed)
      report('deleted', outcome)
      return outcome
    })
  /** Changes several items. Resolves to those whose request failed. */
  const run = async (action: BulkAction, itemIds: readonly string[]): Promise<readonly string[]> => {
    const { failed } = await (action === 'delete'
      ? removeMany(itemIds)
      : setMany(itemIds, flags[action].flag, flags[action].value))
    return failed
  }
  const undoMany = (change: ManyChanges) => {
    const { flag, value } = change
    show(change.itemIds, flag, !value)
    void enqueue(async () => {
      // By now the server has said which ones it changed.
      const outcome = await curateMany(collectionId, change.itemIds, { patch: patchOf(flag, !value) })
      show(outcome.failed, flag, value)
      if (outcome.error !== undefined) report('undone', outcome)
    })
    showToast(`Undone: ${change.itemIds.length} ${words[flag][value ? 1 : 0].toLowerCase()}`)
  }

  const takeBack = (change: OneChange | ManyChanges | undefined) => {
    if (!change || !done.current.includes(change)) return showToast('There is nothing to undo')
    drop(change)
    if ('itemIds' in change) return undoMany(change)
    const { itemId, flag, before } = change
    const item = find(({ id }) => id === itemId)[0]
    if (change.replaced === undefined) show([itemId], flag, before)
    else show([change.replaced], 'hero', true)
    const act = () => (change.replaced === undefined ? curate(itemId, flag, before) : curate(change.replaced, 'hero', true))
    send(act, () => show([itemId], flag, !before))
    showToast(item ? `Undone. ${sentence(item, flag, before)}` : 'Undone')
  }
  const undo = () => takeBack(done.current.at(-1))
  /** The message of a change that failed in part stays. Other changes may have been made since. */
  const undoOf = (change: OneChange | ManyChanges) => ({ label: 'Undo', run: () => takeBack(change) })
  return { toggle, run, undo, canUndo }
}

function sentence(item: Item, flag: Flag, value: boolean): string {
  return `${words[flag][value ? 0 : 1]}: ${itemName(item)}`
}

function patchOf(flag: 'approved' | 'archived', value: boolean) {
  return flag === 'approved' ? { approved: value } : { archived: value }
}
