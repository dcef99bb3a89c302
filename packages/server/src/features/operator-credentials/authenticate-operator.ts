import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { findByTokenHash, recordCredentialUse } from './credential-store.ts'

export interface OperatorIdentity {
  id: string
  name: string | null
}

const bootstrap: OperatorIdentity = { id: 'bootstrap', name: null }

const refused = (message: string) => new ApiError('unauthorized', { message })

/**
 * Checks X-Admin-Token against the bootstrap token. Returns undefined if the value has the form of a credential,
 * which must be looked up.
 */
export function authenticateBootstrap(ctx: Context, headers: IncomingHttpHeaders): OperatorIdentity | undefined {
  const token = headers['x-admin-token']
  if (typeof token !== 'string')
    throw refused(
      'X-Admin-Token is missing. Send the token of an operator credential (opt_…) or the one that ATRIUM_ADMIN_TOKEN sets.',
    )
  // Hashes are compared, because timingSafeEqual throws on unequal lengths.
  if (timingSafeEqual(hashCredential(token), ctx.adminTokenHash)) {
    if (ctx.config.bootstrapToken) return bootstrap
    throw refused(
      'The bootstrap token is switched off (ATRIUM_BOOTSTRAP_TOKEN=off). Send the token of an operator credential (opt_…).',
    )
  }
  if (isCredential('operatorToken', token)) return undefined
  throw refused(
    'X-Admin-Token is not the token of the operator. Send the token of an operator credential (opt_…) or the one that ATRIUM_ADMIN_TOKEN sets.',
  )
}

/**
 * Returns the operator whose credential the request contains. Looks it up at each call, so that a revocation applies
 * at once.
 */
export async function authenticateOperator(ctx: Context, headers: IncomingHttpHeaders): Promise<OperatorIdentity> {
  const found = await findByTokenHash(ctx.db, hashCredential(String(headers['x-admin-token'])))
  if (!found) throw refused('X-Admin-Token is not the token of an operator credential of this installation.')
  if (found.revokedAt !== null) throw refused('The operator credential was revoked. Ask another operator for a new one.')
  if (found.isOver) throw refused(`The operator credential expired at ${found.expiresAt}. Ask another operator for a new one.`)
  await recordCredentialUse(ctx.db, found.id)
  return { id: found.id, name: found.name }
}
