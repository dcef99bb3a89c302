import type { HandlerOf } from '#features/handler.ts'
import { blobDeletionsOfCollection } from '#features/blob-deletions/deletions-of.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { deleteCollection as deleteRow } from '../store.ts'

export const deleteCollection: HandlerOf<'deleteCollection'> = (ctx, { tenant, params }) =>
  ctx.db.lane(params.id).transaction(async (tx) => {
    const deleted = await deleteRow(tx, tenant, params.id)
    if (deleted) {
      await insertBlobDeletions(tx, blobDeletionsOfCollection({ tenantId: tenant, collectionId: params.id }))
      await recordEvent(tx, tenant, 'collection.deleted', { collection_id: params.id })
    }
    return { status: 204 }
  })
