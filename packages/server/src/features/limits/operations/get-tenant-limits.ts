import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findTenant } from '#features/tenants/store.ts'
import { readLimitsView } from '../limits-view.ts'

export const getTenantLimits: HandlerOf<'getTenantLimits'> = async ({ ctx, params }) => {
  if (!(await findTenant(ctx.db, params.tenant_id))) throw new ApiError('not_found')
  return { status: 200, data: await readLimitsView(ctx, ctx.db, params.tenant_id) }
}
