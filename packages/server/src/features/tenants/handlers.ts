import { limits } from '@atrium/contract/limits'
import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import type { Db } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { findKeyUse, notifyKeyChange } from '#features/keys/store.ts'
import { cutTimePage, filteredList, readTimeCursor } from '#http/cursor.ts'
import { assertNotDeleted } from './deletion.ts'
import { inviteHandlers } from './invites.ts'
import { useInvite } from './invite-store.ts'
import { openTenant } from './open-tenant.ts'
import {
  findListedTenant,
  findTenant,
  findTenantForUpdate,
  type ListedTenant,
  listTenants as rowsOf,
  updateTenantDetails,
  updateTenantStatus,
} from './store.ts'
import { deletionState, tenantView } from './tenant.ts'

/** An operator creates a tenant. */
const createTenant: HandlerOf<'createTenant'> = async ({ tx, body }) => {
  const roles = body.roles && body.roles.length > 0 ? body.roles : null
  return { status: 201, data: await openTenant(tx, { name: body.name, email: body.email ?? null, roles }) }
}

/** Anyone with an invite creates a tenant. */
const signUpTenant: HandlerOf<'signUpTenant'> = async ({ tx, body }) => {
  const valid = isCredential('invite', body.invite_code) && (await useInvite(tx, hashCredential(body.invite_code)))
  if (!valid) throw new ApiError('invite_invalid')
  return { status: 201, data: await openTenant(tx, { name: body.name, email: body.email, roles: null }) }
}

const getTenant: HandlerOf<'getTenant'> = async ({ ctx, tenantId }) => {
  const found = await findTenant(ctx.db, tenantId)
  if (!found) throw new ApiError('not_found')
  return { status: 200, data: tenantView(found) }
}

function listedView({ deletion, ...tenant }: ListedTenant) {
  const shown = deletion && { state: deletionState(deletion), due_at: deletion.dueAt }
  return { ...tenantView(tenant), deletion: shown }
}

const listTenants: HandlerOf<'listTenants'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault, order = 'oldest', cursor, q, status } = query
  // The name of the oldest first stays, so that cursors of the previous release stay valid.
  const list = filteredList('tenants', { q, status, order: order === 'newest' ? order : undefined })
  const rows = await rowsOf(ctx.db, { q, status }, order, readTimeCursor(list, cursor), limit + 1)
  const { page, nextCursor } = cutTimePage(list, rows, limit)
  return { status: 200, data: page.map(listedView), nextCursor }
}

/** The tenant as an operator sees it alone. */
async function detailsOf(db: Db, id: string) {
  const [tenant, { activeKeys, lastUsedAt }] = await Promise.all([findListedTenant(db, id), findKeyUse(db, id)])
  if (!tenant) throw new ApiError('not_found')
  return { ...listedView(tenant), email: tenant.email, active_keys: activeKeys, last_used_at: lastUsedAt }
}

const readTenant: HandlerOf<'readTenant'> = async ({ ctx, params }) => ({
  status: 200,
  data: await detailsOf(ctx.db, params.tenant_id),
})

const updateTenant: HandlerOf<'updateTenant'> = async ({ tx, params, body }) => {
  const tenant = await findTenantForUpdate(tx, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  await assertNotDeleted(tx, tenant.id)
  const { name = tenant.name, email = tenant.email, roles = tenant.roles } = body
  await updateTenantDetails(tx, tenant.id, { name, email, roles: roles.length > 0 ? roles : null })
  // Processes keep the roles with the keys.
  notifyKeyChange(tx, tenant.id)
  return { status: 200, data: await detailsOf(tx, tenant.id) }
}

const setTenantStatus: HandlerOf<'setTenantStatus'> = async ({ tx, params, body: { status } }) => {
  const tenant = await findTenantForUpdate(tx, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  await assertNotDeleted(tx, tenant.id)
  if (tenant.status !== status) {
    await updateTenantStatus(tx, tenant.id, status)
    await recordEvent(tx, tenant.id, 'tenant.status_changed', { status, previous: tenant.status })
  }
  notifyKeyChange(tx, tenant.id)
  return { status: 200, data: tenantView({ ...tenant, status }) }
}

export const tenantHandlers = {
  signUpTenant,
  createTenant,
  listTenants,
  readTenant,
  updateTenant,
  setTenantStatus,
  ...inviteHandlers,
  getTenant,
} satisfies Partial<Handlers>
