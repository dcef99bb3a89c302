import * as bulk from '../../packages/server/src/features/items/bulk-store.ts'
import { deleteCollection } from '../../packages/server/src/features/collections/store.ts'
import { listOpenItems } from '../../packages/server/src/features/items/open-items-store.ts'
import { findSeqRange, searchItems } from '../../packages/server/src/features/items/search-store.ts'
import * as store from '../../packages/server/src/features/items/store.ts'
import { eraseBatch } from '../../packages/server/src/features/tenant-data/erase-store.ts'
import type { Tx } from '../../packages/server/src/db/database.ts'

export interface Recorded {
  name: string
  text: string
  values: unknown[]
}

/** Every statement that requests send about the items of a collection. They are recorded, and not sent. */
export async function listItemStatements(tenantId: string, collectionId: string): Promise<Recorded[]> {
  const recorded: Recorded[] = []
  const tx = {
    query: ({ name, text }: Recorded, values: unknown[]) => {
      recorded.push({ name, text, values })
      // As if the collection had existed, so that its items are deleted too.
      return Promise.resolve(name === 'collections-delete' ? [{ id: collectionId }] : [])
    },
    wake: () => undefined,
  } as unknown as Tx
  const of = [tenantId, collectionId] as const
  const item = { id: 'itm_a', approved: true, archived: false, hero: false, access: 'open', accessList: null } as const
  const changed = item as unknown as Parameters<typeof store.updateItem>[3]
  await store.listItems(tx, ...of, { afterSeq: 0, limit: 3 })
  await store.listItemsWithin(tx, ...of, { afterSeq: 0, limit: 3, maxBytes: 1_000 })
  await store.findLastSeq(tx, ...of)
  await store.listItemsBySeq(tx, ...of, [1, 2])
  await store.findItem(tx, ...of, item.id)
  await store.findItemForUpdate(tx, ...of, item.id)
  await store.updateItem(tx, ...of, changed)
  await store.clearItemHero(tx, ...of)
  await store.deleteItem(tx, ...of, item.id)
  await store.listChosenItems(tx, ...of, { ids: [item.id], hero: true })
  await bulk.listItemsForUpdate(tx, ...of, [item.id, 'itm_b'])
  await bulk.updateItems(tx, ...of, [changed])
  await bulk.deleteItems(tx, ...of, [item.id])
  for (const order of ['newest', 'oldest'] as const) {
    await listOpenItems(tx, ...of, { order, after: 0, limit: 3, maxBytes: 1_000 })
    await listOpenItems(tx, ...of, { order, type: 'message', after: 0, limit: 3, maxBytes: 1_000 })
    const range = { after: 0, before: 10 }
    for (const filters of [{ text: 'a' }, { hero: true }]) await searchItems(tx, ...of, { filters, order, range, limit: 3 })
  }
  await findSeqRange(tx, ...of, { from: '2026-01-01T00:00:00Z', to: undefined })
  await deleteCollection(tx, ...of)
  await eraseBatch(tx, tenantId)
  return recorded.filter(({ text }) => /\b(from|update|into) items\b/.test(text))
}
