import type { Vault } from '#crypto/vault/vault.ts'
import { changedAccessList } from '../access-list.ts'
import { type Item, isChanged, isCounted, isOpen, itemUpdated, itemView } from '../item.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { addToItemCount, findCollectionForUpdate } from '#features/collections/store.ts'
import { event, recordEvents } from '#features/events/record-event.ts'
import { clearItemHero, deleteItem as deleteRow, findItemForUpdate, updateItem } from '../store.ts'
import type { Tx } from '#db/database.ts'
import { deleteItems, listItemsForUpdate, updateItems } from '../bulk-store.ts'

interface Curation {
  approved?: boolean
  archived?: boolean
  hero?: boolean
  access?: Item['access']
  grant?: string[]
  revoke?: string[]
}

/** The item after a curation. */
function curate(vault: Vault, tenantId: string, item: Item, patch: Curation): Item {
  return {
    ...item,
    approved: patch.approved ?? item.approved,
    archived: patch.archived ?? item.archived,
    hero: patch.hero ?? item.hero,
    access: patch.access ?? item.access,
    accessList: changedAccessList(vault, { tenantId, table: 'items', id: item.id }, item.accessList, patch),
  }
}

export const curateItem: HandlerOf<'curateItem'> = async ({ ctx, tx, tenantId, params, body }) => {
  // Locks the collection before its items, as every other operation does, so that no two deadlock.
  await findCollectionForUpdate(tx, tenantId, params.id)
  const item = await findItemForUpdate(tx, tenantId, params.id, params.itemId)
  if (!item) throw new ApiError('not_found')

  const after = curate(ctx.vault, tenantId, item, body)
  const formerHero = after.hero && !item.hero ? await clearItemHero(tx, tenantId, params.id) : undefined
  await updateItem(tx, tenantId, params.id, after)
  const difference = Number(isCounted(after)) - Number(isCounted(item))
  if (difference !== 0) await addToItemCount(tx, tenantId, params.id, difference)
  await recordEvents(tx, [
    ...(formerHero ? [itemUpdated(tenantId, params.id, formerHero, isOpen(formerHero))] : []),
    ...(isChanged(item, after) ? [itemUpdated(tenantId, params.id, after, isOpen(item))] : []),
  ])
  return { status: 200, data: { ok: true, ...itemView(after) } }
}

export const deleteItem: HandlerOf<'deleteItem'> = async ({ tx, tenantId, params }) => {
  await findCollectionForUpdate(tx, tenantId, params.id)
  const deleted = await deleteRow(tx, tenantId, params.id, params.itemId)
  if (!deleted) throw new ApiError('not_found')
  if (isCounted(deleted)) await addToItemCount(tx, tenantId, params.id, -1)
  const data = { collection_id: params.id, item_id: params.itemId }
  await recordEvents(tx, [event(tenantId, 'item.deleted', data, isOpen(deleted))])
  return { status: 204 }
}

/** Locks the collection and then its items, in one order, as every other operation does: no two deadlock. */
export const curateItems: HandlerOf<'curateItems'> = async ({ ctx, tx, tenantId, params, body }) => {
  const { ids, patch } = body
  if ((patch === undefined) === (body.delete === undefined))
    throw invalid('/patch', 'exactly one of patch and delete is required')
  if (patch?.hero && ids.length > 1) throw invalid('/patch/hero', 'a collection has one hero: set it with one id')
  if (!(await findCollectionForUpdate(tx, tenantId, params.id))) throw new ApiError('not_found')
  const found = new Map((await listItemsForUpdate(tx, tenantId, params.id, ids)).map((item) => [item.id, item]))
  const items = ids.map((id) => found.get(id))
  assertAllFound(items)
  const bulk = { tenantId, collectionId: params.id, items }
  const results = patch
    ? await updateAll(tx, bulk, (item) => curate(ctx.vault, tenantId, item, patch))
    : await deleteAll(tx, bulk)
  return { status: 200, data: { results } }
}

const maxDetails = 20

function assertAllFound(items: (Item | undefined)[]): asserts items is Item[] {
  const details = items.flatMap((item, i) => (item ? [] : [{ path: `/ids/${i}`, message: 'is not in the collection' }]))
  const [first] = details
  if (!first) return
  throw new ApiError('invalid_request', {
    message: `${first.path}: ${first.message}`,
    details: details.slice(0, maxDetails),
  })
}

interface Bulk {
  tenantId: string
  collectionId: string
  items: Item[]
}

async function updateAll(tx: Tx, { tenantId, collectionId, items }: Bulk, change: (item: Item) => Item) {
  const pairs = items.map((before) => ({ before, after: change(before) }))
  const changed = pairs.filter(({ before, after }) => isChanged(before, after))
  const becomesHero = pairs.some(({ before, after }) => after.hero && !before.hero)
  const formerHero = becomesHero ? await clearItemHero(tx, tenantId, collectionId) : undefined
  await updateItems(
    tx,
    tenantId,
    collectionId,
    changed.map(({ after }) => after),
  )
  const difference = countOf(pairs.map(({ after }) => after)) - countOf(items)
  if (difference !== 0) await addToItemCount(tx, tenantId, collectionId, difference)
  await recordEvents(tx, [
    ...(formerHero ? [itemUpdated(tenantId, collectionId, formerHero, isOpen(formerHero))] : []),
    ...changed.map(({ before, after }) => itemUpdated(tenantId, collectionId, after, isOpen(before))),
  ])
  const ids = new Set(changed.map(({ after }) => after.id))
  return items.map(({ id }) => ({ id, status: ids.has(id) ? ('updated' as const) : ('unchanged' as const) }))
}

async function deleteAll(tx: Tx, { tenantId, collectionId, items }: Bulk) {
  const ids = items.map(({ id }) => id)
  await deleteItems(tx, tenantId, collectionId, ids)
  const counted = countOf(items)
  if (counted > 0) await addToItemCount(tx, tenantId, collectionId, -counted)
  await recordEvents(
    tx,
    items.map((item) => event(tenantId, 'item.deleted', { collection_id: collectionId, item_id: item.id }, isOpen(item))),
  )
  return ids.map((id) => ({ id, status: 'deleted' as const }))
}

function countOf(items: Item[]): number {
  return items.filter(isCounted).length
}
