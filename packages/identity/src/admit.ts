import type { KeyObject } from 'node:crypto'
import { AGENT_TOKEN_LIFETIME, verifyAgentToken } from './agent-token.ts'
import { parseDeviceKey } from './device-key.ts'
import { type TokenDetail, type TokenExpectations, type TokenVerdict, verifyIdToken } from './id-token.ts'
import { goodUntilMs, PERSON_LIFETIME, type TokenClaims, type TokenLifetime } from './token-claims.ts'

/** What a request brings along: body fields of the Space endpoint, or the headers X-Id-Token and X-Spk. */
export interface Presented {
  readonly idToken?: unknown
  readonly spk?: unknown
}

/** An account of an identity provider; `email` is in comparison form (see parseEmail). */
export interface Account {
  readonly email: string
  readonly sub: string
  readonly issuer: string
  readonly name?: string
}

/** An agent, which the platform's own issuer vouches for. */
export interface Agent {
  readonly id: string
  readonly issuer: string
  readonly name?: string
}

/** Where someone stands on an allow-list; `revoked` when they stood there and were taken off. */
export type Standing = 'listed' | 'revoked' | 'absent'

/** Opens the sealed allow-list and looks the bearer up. */
export type FindStanding<Bearer> = (bearer: Bearer) => Promise<Standing>

export type RejectionReason = 'unsigned' | `token: ${TokenDetail}` | 'nonce_mismatch' | 'not_on_list' | 'revoked'

export type Admission<Bearer> =
  | {
      readonly ok: true
      readonly bearer: Bearer
      readonly thumbprint: string
      readonly publicKey: KeyObject
      /** Until when the token holds. */
      readonly untilMs: number
    }
  | { readonly ok: false; readonly reason: RejectionReason }

/** Decides whether the account whose ID token is presented may pass. Throws ProviderUnavailable when the token cannot be checked. */
export function admit(
  presented: Presented,
  expected: TokenExpectations,
  findStanding: FindStanding<Account>,
): Promise<Admission<Account>> {
  return admitBearer(presented, {
    verify: (token) => verifyIdToken(token, expected),
    lifetime: PERSON_LIFETIME,
    bearerOf: ({ iss: issuer, sub, email, name }) => ({ email, sub, issuer, ...(name !== undefined && { name }) }),
    findStanding,
  })
}

/** The same for an agent and its token. */
export function admitAgent(
  presented: Presented,
  expected: TokenExpectations,
  findStanding: FindStanding<Agent>,
): Promise<Admission<Agent>> {
  return admitBearer(presented, {
    verify: (token) => verifyAgentToken(token, expected),
    lifetime: AGENT_TOKEN_LIFETIME,
    bearerOf: ({ iss: issuer, sub: id, name }) => ({ id, issuer, ...(name !== undefined && { name }) }),
    findStanding,
  })
}

interface Steps<Claims, Bearer> {
  verify: (token: unknown) => Promise<TokenVerdict<Claims>>
  lifetime: TokenLifetime
  bearerOf: (claims: Claims) => Bearer
  findStanding: FindStanding<Bearer>
}

/**
 * In the contract's order (part 5): token, nonce, list. The list stays closed until the first two hold, so a stranger learns nothing of
 * who is on it, not even by how long the answer takes.
 */
async function admitBearer<Claims extends TokenClaims, Bearer>(
  { idToken, spk }: Presented,
  { verify, lifetime, bearerOf, findStanding }: Steps<Claims, Bearer>,
): Promise<Admission<Bearer>> {
  if (isAbsent(idToken) || isAbsent(spk)) return refused('unsigned')
  const token = await verify(idToken)
  if (!token.ok) return refused(`token: ${token.reason}`)
  // A key that cannot be read has no thumbprint, so no nonce is bound to it.
  const device = parseDeviceKey(spk)
  if (device?.thumbprint !== token.claims.nonce) return refused('nonce_mismatch')
  const bearer = bearerOf(token.claims)
  const standing = await findStanding(bearer)
  if (standing !== 'listed') return refused(standing === 'revoked' ? 'revoked' : 'not_on_list')
  const untilMs = goodUntilMs(token.claims, lifetime)
  return { ok: true, bearer, thumbprint: device.thumbprint, publicKey: device.publicKey, untilMs }
}

/** Half an identity is none: a token without a device key could be anyone's copy. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function refused(reason: RejectionReason): { ok: false; reason: RejectionReason } {
  return { ok: false, reason }
}
