import type { HandlerOf } from '../../../http/call.ts'
import { removalsOfCollection } from '../../artifacts/removal/removals-of.ts'
import { insertRemovals } from '../../artifacts/removal/store.ts'
import { recordEvent } from '../../events/record-event.ts'
import { deleteCollection as deleteRow } from '../store.ts'

export const deleteCollection: HandlerOf<'deleteCollection'> = (ctx, { tenant, params }) =>
  ctx.db.lane(params.id).transaction(async (tx) => {
    const deleted = await deleteRow(tx, tenant, params.id)
    if (deleted) {
      await insertRemovals(tx, removalsOfCollection({ tenantId: tenant, collectionId: params.id }))
      await recordEvent(tx, tenant, 'collection.deleted', { collection_id: params.id })
    }
    return { status: 204 }
  })
