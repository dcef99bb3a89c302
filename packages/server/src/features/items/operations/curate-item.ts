import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { addToItemCount, findCollectionForUpdate } from '#features/collections/store.ts'
import { recordEvents } from '#features/events/record-event.ts'
import { curate } from '../curate.ts'
import { isChanged, isCounted, isOpen, itemUpdated, itemView } from '../item.ts'
import { clearItemHero, findItemForUpdate, updateItem } from '../store.ts'

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
