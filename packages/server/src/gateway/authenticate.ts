import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { idPrefixes, isCredential, isId, type CredentialKind, type IdKind } from '@atrium/contract/tokens'
import type { Caller } from '@atrium/contract/operation'
import type { Context } from '#features/context.ts'
import { refusalOf, type ResolvedKey } from '#features/keys/key.ts'
import type { HeldSession } from '#features/sessions/session.ts'
import { findByControlToken } from '#features/sessions/store.ts'
import { hashCredential } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { pathOf } from '#http/parse.ts'
import { bearerValue } from './bearer-value.ts'

const howToSend = 'Send a key as "Authorization: Bearer <key>" or as "X-API-Key: <key>".'

/** The key in the request, unchanged. */
function presentedKey(headers: IncomingHttpHeaders): string {
  const { authorization, 'x-api-key': key } = headers
  if (authorization !== undefined) {
    const value = bearerValue(authorization)
    if (value !== undefined) {
      // Gateways in front may forward an X-API-Key of their own.
      if (typeof key !== 'string' || key === value || !/^w[ps]k_/.test(key)) return value
      // RFC 6750, section 3.1. Which of two keys counts would be a guess.
      throw invalid('X-API-Key', 'there is another key in Authorization: send one of the two')
    }
    throw new ApiError('unauthorized', { message: `${wrongScheme(authorization)} ${howToSend}` })
  }
  if (typeof key === 'string') return key
  const token = headers['x-collection-token']
  const message = token === undefined ? '' : 'X-Collection-Token does not replace the key: send both. '
  throw new ApiError('unauthorized', { message: `${message}The request has no key. ${howToSend}` })
}

function wrongScheme(authorization: string): string {
  if (/^bearer *$/i.test(authorization)) return 'The Authorization header has no key after "Bearer".'
  if (/^w[ps]k_/.test(authorization)) return 'The Authorization header has a key without the word "Bearer" before it.'
  return 'The Authorization header must read "Bearer <key>".'
}

/** A key in a query string is never read, because URLs are kept in logs and browser histories. */
export function assertNoKeyInQuery(url: string): void {
  if (!/=w[ps]k_/.test(url.slice(pathOf(url).length))) return
  const message =
    'A key in the query string is not accepted, because addresses are kept in logs. ' +
    `${howToSend} If it was a secret key, revoke it.`
  throw new ApiError('unauthorized', { message })
}

interface HashedKey {
  presented: string
  hash: string
}

/** The last key that each connection presented. It lives as long as the connection, which mostly presents one key. */
const lastKeys = new WeakMap<Socket, HashedKey>()

/** presentedKeyHash for a request on this connection, computed once for repeated requests with the same key. */
export function connectionKeyHash(socket: Socket, headers: IncomingHttpHeaders): string {
  const last = lastKeys.get(socket)
  // A page's request is checked further: see presentedKeyHash.
  if (last && headers['sec-fetch-site'] === undefined && presentedKey(headers) === last.presented) return last.hash
  const keyHash = presentedKeyHash(headers)
  lastKeys.set(socket, { presented: presentedKey(headers), hash: keyHash })
  return keyHash
}

/** Returns the hash by which the key in the request is looked up. Throws if the key is missing or malformed. */
export function presentedKeyHash(headers: IncomingHttpHeaders): string {
  const presented = presentedKey(headers)
  const secret = presented.startsWith('wsk_')
  if (!isCredential(secret ? 'secretKey' : 'publishableKey', presented)) throw new ApiError('unauthorized', wrongKind(presented))
  // Only browsers send it, and a page cannot forge or suppress it.
  if (secret && headers['sec-fetch-site'] !== undefined) throw new ApiError('secret_key_in_browser')
  return hash('sha256', presented, 'base64')
}

export function collectionTokenOf(headers: IncomingHttpHeaders): string | undefined {
  const token = headers['x-collection-token']
  return typeof token === 'string' ? token : undefined
}

/** For each other kind of credential, what to do if it was sent in place of a key. */
const uses: Partial<Record<CredentialKind, string>> = {
  adminToken: 'an admin token: send it as X-Collection-Token, and a key beside it',
  contributorToken: 'a contributor token: send it as X-Collection-Token, and a key beside it',
  controlToken: 'the control token of a session: it opens /sessions/{id} at the root, without /v1',
  summonKey: 'a summon key: send it as summon_key in the body',
  walletCode: 'a wallet code: send it in the body',
  coupon: 'a coupon: send it in the body',
  licenseKey: 'a license key: send it as license_key in the body',
  invite: 'an invite code: send it as invite_code in the body',
  operatorToken: 'the token of an operator credential: send it as X-Admin-Token',
}

/** Explains what was sent if it does not have the form of a key. Never quotes it. */
function wrongKind(presented: string): { message: string } {
  for (const [kind, use] of Object.entries(uses))
    if (isCredential(kind as CredentialKind, presented)) return { message: `This is ${use}. A key begins with wsk_ or wpk_.` }
  if (/^["'<`].*["'>`]$/.test(presented)) return { message: 'Send the key without quotation marks or brackets around it.' }
  if (/\\[nrt]$|\s$|%0[adAD]$/.test(presented))
    return { message: 'A line break or a space follows the key. Send the key without it, for example trimmed.' }
  if (Object.keys(idPrefixes).some((kind) => isId(kind as IdKind, presented)))
    return { message: 'This is the id of an object. A key begins with wsk_ or wpk_ and is shown once, when it is created.' }
  if (!/^w[ps]k_/.test(presented)) return { message: 'This is not a key: a key begins with wsk_ or wpk_.' }
  const length = 'wsk_'.length + 36
  if (presented.length !== length)
    return { message: `The key has ${presented.length} characters instead of ${length}: part of it is missing or was added.` }
  return { message: 'The checksum of the key is wrong: a character is mistyped. Copy the key again.' }
}

/** Resolves a key: at once from the cache, or through the database. Throws if the key is refused. */
export function authenticateKey(ctx: Context, caller: Caller, keyHash: string): ResolvedKey | Promise<ResolvedKey> {
  const found = ctx.keyCache.resolve(keyHash)
  return found instanceof Promise ? found.then((key) => accept(key, caller)) : accept(found, caller)
}

function accept(key: ResolvedKey | undefined, caller: Caller): ResolvedKey {
  const refusal = refusalOf(key, Date.now())
  if (refusal === 'unauthorized' || !key) {
    // All of these have the same answer, because it must not disclose which keys existed.
    const message = 'The key is well-formed, but unknown, expired or revoked. Use an active key of this installation.'
    throw new ApiError('unauthorized', { message })
  }
  if (refusal) throw new ApiError(refusal)
  if (caller === 'secret' && key.kind !== 'secret') throw new ApiError('secret_key_required')
  return key
}

/** How long after its expiry a key may still read the stored answer of the request that expired it. */
const afterglowMs = 10 * 60_000
/** A shorter Idempotency-Key could be guessed by someone who found a key that was rotated because it had leaked. */
const minKeyLength = 20

/**
 * Returns the secret key of the request if it has just expired and the request may be a repeat of the one that
 * expired it. Such a key gives access to nothing but the stored answer of that request: see replayOrRefuse.
 */
export async function findEndedKey(ctx: Context, headers: IncomingHttpHeaders): Promise<ResolvedKey | undefined> {
  const idempotencyKey = headers['idempotency-key']
  if (typeof idempotencyKey !== 'string' || idempotencyKey.length < minKeyLength) return undefined
  const key = await ctx.keyCache.resolve(presentedKeyHash(headers))
  if (key?.kind !== 'secret') return undefined
  const justEnded = key.endsAtMs !== undefined && Date.now() - key.endsAtMs < afterglowMs
  return justEnded && key.tenantStatus === 'active' ? key : undefined
}

/** Returns the session whose control token the request contains. */
export async function authenticateControl(ctx: Context, headers: IncomingHttpHeaders): Promise<HeldSession> {
  const token = bearerValue(headers.authorization) ?? ''
  const session = isCredential('controlToken', token) ? await findByControlToken(ctx.db, hashCredential(token)) : undefined
  if (session) return session
  throw new ApiError('unauthorized', { message: 'Send the control token of a session as "Authorization: Bearer sct_…".' })
}

/** An authenticated operator: by a credential, or by the bootstrap token. */
