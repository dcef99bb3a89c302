import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { addToItemCount, findCollectionForUpdate } from '#features/collections/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { isCounted } from '../item.ts'
import { deleteItem as deleteRow } from '../store.ts'

export const deleteItem: HandlerOf<'deleteItem'> = async ({ tx, tenantId, params }) => {
  await findCollectionForUpdate(tx, tenantId, params.id)
  const deleted = await deleteRow(tx, tenantId, params.id, params.itemId)
  if (!deleted) throw new ApiError('not_found')
  if (isCounted(deleted)) await addToItemCount(tx, tenantId, params.id, -1)
  await recordEvent(tx, tenantId, 'item.deleted', { collection_id: params.id, item_id: params.itemId })
  return { status: 204 }
}
