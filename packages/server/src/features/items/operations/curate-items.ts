import type { Tx } from '#db/database.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { addToItemCount, findCollectionForUpdate } from '#features/collections/store.ts'
import { event, recordEvents } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { deleteItems, listItemsForUpdate, updateItems } from '../bulk-store.ts'
import { curate } from '../curate.ts'
import { isChanged, isCounted, isOpen, itemUpdated, type Item } from '../item.ts'
import { clearItemHero } from '../store.ts'

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
