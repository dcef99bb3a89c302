import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { assertListed } from '../assert-listed.ts'
import { itemView } from '../item.ts'
import { findItem } from '../store.ts'

export const getItem: HandlerOf<'getItem'> = async ({ ctx, tenantId, params, headers, owner }) => {
  const item = await findItem(ctx.db, tenantId, params.id, params.itemId)
  if (!item || (item.access === 'owner' && !owner)) throw new ApiError('not_found')
  if (item.access === 'email' && !owner)
    await assertListed(ctx, headers, { tenantId, table: 'items', id: item.id, accessList: item.accessList })
  return { status: 200, data: itemView(item) }
}
