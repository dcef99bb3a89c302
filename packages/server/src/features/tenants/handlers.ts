import { limits } from '@atrium/contract/limits'
import { isCredential } from '@atrium/contract/tokens'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { notifyKeyChange } from '#features/keys/store.ts'
import { makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { futureTime } from '#http/request-time.ts'
import { openTenant } from './open-tenant.ts'
import { findTenant, findTenantForUpdate, insertInvite, listTenants as rowsOf, updateTenantStatus, useInvite } from './store.ts'
import { tenantView } from './tenant.ts'

/** An operator creates a tenant. */
export const createTenant: HandlerOf<'createTenant'> = async ({ tx, body }) => {
  const roles = body.roles && body.roles.length > 0 ? body.roles : null
  return { status: 201, data: await openTenant(tx, { name: body.name, email: body.email ?? null, roles }) }
}

/** Anyone with an invite creates a tenant. */
export const signUpTenant: HandlerOf<'signUpTenant'> = async ({ tx, body }) => {
  const valid = isCredential('invite', body.invite_code) && (await useInvite(tx, hashCredential(body.invite_code)))
  if (!valid) throw new ApiError('invite_invalid')
  return { status: 201, data: await openTenant(tx, { name: body.name, email: body.email, roles: null }) }
}

export const getTenant: HandlerOf<'getTenant'> = async ({ ctx, tenantId }) => {
  const found = await findTenant(ctx.db, tenantId)
  if (!found) throw new ApiError('not_found')
  return { status: 200, data: tenantView(found) }
}

const list = 'tenants'

export const listTenants: HandlerOf<'listTenants'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await rowsOf(ctx.db, readTimeCursor(list, query.cursor), limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = rows.length > limit && last ? makeTimeCursor(list, last) : undefined
  return { status: 200, data: page.map(tenantView), nextCursor }
}

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

export const createInvite: HandlerOf<'createInvite'> = async ({ tx, body }) => {
  const { uses = 1 } = body
  const expiresAt = body.expires_at === undefined ? null : futureTime(body.expires_at, '/expires_at')
  const code = newCredential('invite')
  await insertInvite(tx, hashCredential(code), uses, expiresAt)
  return { status: 201, data: { invite_code: code, uses, expires_at: expiresAt } }
}

export const tenantHandlers = {
  signUpTenant,
  createTenant,
  listTenants,
  setTenantStatus,
  createInvite,
  getTenant,
} satisfies Partial<Handlers>
