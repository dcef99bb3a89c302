import type { HandlerOf } from '../../../http/call.ts'
import { deleteCollection as deleteRow } from '../store.ts'

export const deleteCollection: HandlerOf<'deleteCollection'> = async (ctx, { tenant, params }) => {
  await deleteRow(ctx.db, tenant, params.id)
  return { status: 204 }
}
