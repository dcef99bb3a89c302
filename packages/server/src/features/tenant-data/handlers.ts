import type { Tx } from '#db/database.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { deleteSessionsOfTenant } from '#features/console/session-store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { notifyKeyChange } from '#features/keys/store.ts'
import {
  deleteDeletion,
  deletionView,
  findDeletion,
  findDeletionForUpdate,
  insertDeletion,
  noDeletion,
} from '#features/tenants/deletion-store.ts'
import { findTenant, findTenantForUpdate, updateTenantStatus } from '#features/tenants/store.ts'
import type { Tenant } from '#features/tenants/tenant.ts'
import { exportOwnTenant, exportTenant } from './export-tenant.ts'

const defaultDays = 7

/** Suspends the tenant at once; the sweep removes its data after the delay. A repeat changes nothing. */
const deleteTenant: HandlerOf<'deleteTenant'> = async ({ tx, params, body }) => ({
  status: 202,
  data: await scheduleDeletion(tx, params.tenant_id, body.after_days ?? defaultDays),
})

/** By an owner, who cannot choose another delay, so that an operator can still cancel it. */
const deleteOwnTenant: HandlerOf<'deleteOwnTenant'> = async ({ tx, tenantId, body }) => {
  if (body.tenant_id !== tenantId) throw invalid('/tenant_id', 'must be the id of your tenant')
  return { status: 202, data: await scheduleDeletion(tx, tenantId, defaultDays) }
}

async function scheduleDeletion(tx: Tx, tenantId: string, afterDays: number) {
  const tenant = await lockTenant(tx, tenantId)
  const known = await findDeletion(tx, tenant.id)
  if (known) return deletionView(known)
  const deletion = await insertDeletion(tx, tenant.id, tenant.status, afterDays)
  await changeStatus(tx, tenant, 'suspended')
  return deletionView(deletion)
}

const getTenantDeletion: HandlerOf<'getTenantDeletion'> = async ({ ctx, params }) => {
  const tenant = await findTenant(ctx.db, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  const deletion = await findDeletion(ctx.db, tenant.id)
  return { status: 200, data: deletion ? deletionView(deletion) : noDeletion(tenant.id) }
}

const cancelTenantDeletion: HandlerOf<'cancelTenantDeletion'> = async ({ tx, params }) => {
  const tenant = await lockTenant(tx, params.tenant_id)
  const deletion = await findDeletionForUpdate(tx, tenant.id)
  if (!deletion) return { status: 204 }
  if (deletion.startedAt !== null)
    throw new ApiError('state_conflict', { message: 'The deletion has begun and can no longer be cancelled.' })
  await deleteDeletion(tx, tenant.id)
  // One of them may be stolen, and have asked for the deletion.
  await deleteSessionsOfTenant(tx, tenant.id)
  await changeStatus(tx, tenant, deletion.statusBefore)
  return { status: 204 }
}

async function lockTenant(tx: Tx, id: string): Promise<Tenant> {
  const tenant = await findTenantForUpdate(tx, id)
  if (!tenant) throw new ApiError('not_found')
  return tenant
}

async function changeStatus(tx: Tx, { id, status: previous }: Tenant, status: Tenant['status']): Promise<void> {
  if (status === previous) return
  await updateTenantStatus(tx, id, status)
  await recordEvent(tx, id, 'tenant.status_changed', { status, previous })
  notifyKeyChange(tx, id)
}

export const tenantDataHandlers = {
  exportTenant,
  exportOwnTenant,
  deleteTenant,
  deleteOwnTenant,
  getTenantDeletion,
  cancelTenantDeletion,
} satisfies Partial<Handlers>
