import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isCredential } from '@atrium/contract/tokens'
import type { Caller } from '@atrium/contract/operation'
import type { Context } from '../context.ts'
import { refusalOf, type ResolvedKey } from '../features/keys/resolved-key.ts'
import type { HeldSession } from '../features/sessions/session.ts'
import { findByControlToken } from '../features/sessions/store.ts'
import { hashCredential } from '../random.ts'
import { ApiError } from './api-error.ts'

/** The key in the request, by its form alone. */
function presentedKey(headers: IncomingHttpHeaders): string {
  const authorization = headers.authorization
  if (authorization !== undefined) {
    if (authorization.startsWith('Bearer ')) return authorization.slice(7)
    throw new ApiError('unauthorized', { message: 'The Authorization header must read "Bearer <key>".' })
  }
  const key = headers['x-api-key']
  if (typeof key === 'string') return key
  throw new ApiError('unauthorized', { message: 'Send a key as "Authorization: Bearer <key>" or as "X-API-Key: <key>".' })
}

/** SHA-256 of the key in the request. */
export function hashPresentedKey(headers: IncomingHttpHeaders): Buffer {
  return hashCredential(presentedKey(headers))
}

/** For how long after its end a key may ask again for the answer to the request that ended it. */
const afterglowMs = 10 * 60_000
/** A shorter Idempotency-Key might be guessed by whoever has found a key that was rotated because it had leaked. */
const minKeyLength = 20

/**
 * The secret key of the request, if it has just ended and the request may be the repeat of the one that ended it. It opens nothing but the
 * answer that was kept of that request: see replayOrRefuse.
 */
export async function findEndedKey(ctx: Context, headers: IncomingHttpHeaders): Promise<ResolvedKey | undefined> {
  const idempotencyKey = headers['idempotency-key']
  if (typeof idempotencyKey !== 'string' || idempotencyKey.length < minKeyLength) return undefined
  const presented = presentedKey(headers)
  if (!isCredential('secretKey', presented) || headers['sec-fetch-site'] !== undefined) return undefined
  const key = await ctx.keyCache.resolve(hash('sha256', presented, 'base64'))
  const justEnded = key?.endsAtMs !== undefined && Date.now() - key.endsAtMs < afterglowMs
  return justEnded && key.tenantStatus === 'active' ? key : undefined
}

/** Resolves the tenant key of a request: at once from memory, or through the database. Throws the refusal. */
export function authenticateKey(ctx: Context, caller: Caller, headers: IncomingHttpHeaders): ResolvedKey | Promise<ResolvedKey> {
  const presented = presentedKey(headers)
  const secret = presented.startsWith('wsk_')
  if (!isCredential(secret ? 'secretKey' : 'publishableKey', presented)) throw new ApiError('unauthorized')
  // Only browsers send it, and a page cannot forge or suppress it.
  if (secret && headers['sec-fetch-site'] !== undefined) throw new ApiError('secret_key_in_browser')
  const found = ctx.keyCache.resolve(hash('sha256', presented, 'base64'))
  return found instanceof Promise ? found.then((key) => accept(key, caller)) : accept(found, caller)
}

function accept(key: ResolvedKey | undefined, caller: Caller): ResolvedKey {
  const refusal = refusalOf(key, Date.now())
  if (refusal || !key) throw new ApiError(refusal ?? 'unauthorized')
  if (caller === 'secret' && key.kind !== 'secret') throw new ApiError('secret_key_required')
  return key
}

/** The session whose control token the request bears. */
export async function authenticateControl(ctx: Context, headers: IncomingHttpHeaders): Promise<HeldSession> {
  const token = headers.authorization?.startsWith('Bearer ') ? headers.authorization.slice(7) : ''
  const session = isCredential('controlToken', token) ? await findByControlToken(ctx.db, hashCredential(token)) : undefined
  if (session) return session
  throw new ApiError('unauthorized', { message: 'Send the control token of a session as "Authorization: Bearer sct_…".' })
}

/** Checks X-Admin-Token. */
export function authenticateOperator(ctx: Context, headers: IncomingHttpHeaders): void {
  const token = headers['x-admin-token']
  // Digests are compared, since timingSafeEqual throws on unequal lengths.
  if (typeof token !== 'string' || !timingSafeEqual(hashCredential(token), ctx.adminTokenHash)) {
    throw new ApiError('unauthorized', { message: 'Send the operator token as X-Admin-Token.' })
  }
}
