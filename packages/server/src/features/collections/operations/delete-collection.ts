import type { HandlerOf } from '#features/handler.ts'
import { blobDeletionsOfCollection } from '#features/blob-deletions/blob-keys.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { deleteCollection as deleteRow } from '../store.ts'

export const deleteCollection: HandlerOf<'deleteCollection'> = async ({ tx, tenantId, params }) => {
  const deleted = await deleteRow(tx, tenantId, params.id)
  if (deleted) {
    await insertBlobDeletions(tx, blobDeletionsOfCollection({ tenantId, collectionId: params.id }))
    await recordEvent(tx, tenantId, 'collection.deleted', { collection_id: params.id })
  }
  return { status: 204 }
}
