import { isCredential } from '@atrium/contract/tokens'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { hashCredential } from '#crypto/random.ts'
import { openTenant } from '../open-tenant.ts'
import { takeInvite } from '../store.ts'

export const signUpTenant: HandlerOf<'signUpTenant'> = async ({ tx, body }) => {
  const valid = isCredential('invite', body.invite_code) && (await takeInvite(tx, hashCredential(body.invite_code)))
  if (!valid) throw new ApiError('invite_invalid')
  return { status: 201, data: await openTenant(tx, { name: body.name, email: body.email, roles: null }) }
}
