import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findTenant } from '../store.ts'
import { tenantView } from '../tenant.ts'

export const getTenant: HandlerOf<'getTenant'> = async ({ ctx, tenantId }) => {
  const found = await findTenant(ctx.db, tenantId)
  if (!found) throw new ApiError('not_found')
  return { status: 200, data: tenantView(found) }
}
