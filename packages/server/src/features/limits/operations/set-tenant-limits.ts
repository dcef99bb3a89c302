import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findTenantForUpdate } from '#features/tenants/store.ts'
import { readLimitsView } from '../limits-view.ts'
import { saveOverrides } from '../store.ts'

export const setTenantLimits: HandlerOf<'setTenantLimits'> = async ({ ctx, tx, params, body }) => {
  const tenant = await findTenantForUpdate(tx, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  await saveOverrides(tx, tenant.id, body)
  return { status: 200, data: await readLimitsView(ctx, tx, tenant.id) }
}
