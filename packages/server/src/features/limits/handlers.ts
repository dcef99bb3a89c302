import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { findTenant, findTenantForUpdate } from '#features/tenants/store.ts'
import { readLimitsView } from './quota.ts'
import { saveOverrides } from './store.ts'

export const getTenantLimits: HandlerOf<'getTenantLimits'> = async ({ ctx, params }) => {
  const tenant = await findTenant(ctx.db, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  return { status: 200, data: await readLimitsView(ctx, ctx.db, tenant.id) }
}

export const setTenantLimits: HandlerOf<'setTenantLimits'> = async ({ ctx, tx, params, body }) => {
  const tenant = await findTenantForUpdate(tx, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  await saveOverrides(tx, tenant.id, body)
  return { status: 200, data: await readLimitsView(ctx, tx, tenant.id) }
}

export const limitHandlers = { getTenantLimits, setTenantLimits } satisfies Partial<Handlers>
