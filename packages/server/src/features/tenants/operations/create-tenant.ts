import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { openTenant } from '../open-tenant.ts'
import { useInvite } from '../store.ts'

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
