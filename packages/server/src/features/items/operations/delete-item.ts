import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { addToItemCount, findCollectionForUpdate } from '#features/collections/store.ts'
import { event, recordEvents } from '#features/events/record-event.ts'
import { isCounted, isOpen } from '../item.ts'
import { deleteItem as deleteRow } from '../store.ts'

export const deleteItem: HandlerOf<'deleteItem'> = async ({ tx, tenantId, params }) => {
  await findCollectionForUpdate(tx, tenantId, params.id)
  const deleted = await deleteRow(tx, tenantId, params.id, params.itemId)
  if (!deleted) throw new ApiError('not_found')
  if (isCounted(deleted)) await addToItemCount(tx, tenantId, params.id, -1)
  const data = { collection_id: params.id, item_id: params.itemId }
  await recordEvents(tx, [event(tenantId, 'item.deleted', data, isOpen(deleted))])
  return { status: 204 }
}
