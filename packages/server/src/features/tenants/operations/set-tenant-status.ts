import { ApiError } from '../../../http/api-error.ts'
import type { HandlerOf } from '../../../http/call.ts'
import { announceKeyChange } from '../../keys/store.ts'
import { updateTenantStatus } from '../store.ts'
import { tenantView } from '../tenant.ts'

export const setTenantStatus: HandlerOf<'setTenantStatus'> = (ctx, { params, body }) =>
  ctx.db.transaction(async (tx) => {
    const tenant = await updateTenantStatus(tx, params.tenant_id, body.status)
    if (!tenant) throw new ApiError('not_found')
    await announceKeyChange(tx, tenant.id)
    return { status: 200, data: tenantView(tenant) }
  })
