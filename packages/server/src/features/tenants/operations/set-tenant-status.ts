import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { notifyKeyChange } from '#features/keys/store.ts'
import { findTenantForUpdate, updateTenantStatus } from '../store.ts'
import { tenantView } from '../tenant.ts'

export const setTenantStatus: HandlerOf<'setTenantStatus'> = async ({ tx, params, body: { status } }) => {
  const tenant = await findTenantForUpdate(tx, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  if (tenant.status !== status) {
    await updateTenantStatus(tx, tenant.id, status)
    await recordEvent(tx, tenant.id, 'tenant.status_changed', { status, previous: tenant.status })
  }
  await notifyKeyChange(tx, tenant.id)
  return { status: 200, data: tenantView({ ...tenant, status }) }
}
