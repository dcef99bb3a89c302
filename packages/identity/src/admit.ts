import type { KeyObject } from 'node:crypto'
import { AGENT_TOKEN_LIFETIME, verifyAgentToken } from './agent-token.ts'
import { parseDeviceKey } from './device-key.ts'
import { type TokenDetail, type TokenExpectations, type TokenVerdict, verifyIdToken } from './id-token.ts'
import { goodUntilMs, PERSON_LIFETIME, type TokenClaims, type TokenLifetime } from './token-claims.ts'

/** The credentials in a request: body fields of the Space endpoint, or the headers X-Id-Token and X-Spk. */
export interface Credentials {
  readonly idToken?: unknown
  readonly spk?: unknown
}

/** An account of an identity provider. `email` is in comparison form (see parseEmail). */
export interface Account {
  readonly email: string
  readonly sub: string
  readonly issuer: string
  readonly name?: string
}

/** An agent, whose identity the platform's own issuer proves. */
export interface Agent {
  readonly id: string
  readonly issuer: string
  readonly name?: string
}

/** The list status of an account or agent; `revoked` if it was removed from the list. */
export type ListStatus = 'listed' | 'revoked' | 'absent'

/** Opens the sealed access list and looks up the account or agent. */
export type FindListStatus<Principal> = (principal: Principal) => Promise<ListStatus>

export type RejectionReason = 'unsigned' | `token: ${TokenDetail}` | 'nonce_mismatch' | 'not_on_list' | 'revoked'

export type Admission<Principal> =
  | {
      readonly ok: true
      readonly principal: Principal
      readonly thumbprint: string
      readonly publicKey: KeyObject
      /** The expiry of the token. */
      readonly untilMs: number
    }
  | { readonly ok: false; readonly reason: RejectionReason }

/**
 * Decides whether the account of the presented ID token has access. Throws ProviderUnavailable if the token cannot
 * be checked.
 */
export function admit(
  credentials: Credentials,
  expected: TokenExpectations,
  findListStatus: FindListStatus<Account>,
): Promise<Admission<Account>> {
  return admitPrincipal(credentials, {
    verify: (token) => verifyIdToken(token, expected),
    lifetime: PERSON_LIFETIME,
    principalOf: ({ iss: issuer, sub, email, name }) => ({ email, sub, issuer, ...(name !== undefined && { name }) }),
    findListStatus,
  })
}

/** The same for an agent and its token. */
export function admitAgent(
  credentials: Credentials,
  expected: TokenExpectations,
  findListStatus: FindListStatus<Agent>,
): Promise<Admission<Agent>> {
  return admitPrincipal(credentials, {
    verify: (token) => verifyAgentToken(token, expected),
    lifetime: AGENT_TOKEN_LIFETIME,
    principalOf: ({ iss: issuer, sub: id, name }) => ({ id, issuer, ...(name !== undefined && { name }) }),
    findListStatus,
  })
}

interface Steps<Claims, Principal> {
  verify: (token: unknown) => Promise<TokenVerdict<Claims>>
  lifetime: TokenLifetime
  principalOf: (claims: Claims) => Principal
  findListStatus: FindListStatus<Principal>
}

/**
 * In the contract's order (part 5): token, nonce, list. The list is not opened until the first two pass, so a
 * stranger learns nothing about its members, not even from the time of the answer.
 */
async function admitPrincipal<Claims extends TokenClaims, Principal>(
  { idToken, spk }: Credentials,
  { verify, lifetime, principalOf, findListStatus }: Steps<Claims, Principal>,
): Promise<Admission<Principal>> {
  if (isAbsent(idToken) || isAbsent(spk)) return refused('unsigned')
  const token = await verify(idToken)
  if (!token.ok) return refused(`token: ${token.reason}`)
  // An unreadable key has no thumbprint, so no nonce is bound to it.
  const device = parseDeviceKey(spk)
  if (device?.thumbprint !== token.claims.nonce) return refused('nonce_mismatch')
  const principal = principalOf(token.claims)
  const status = await findListStatus(principal)
  if (status !== 'listed') return refused(status === 'revoked' ? 'revoked' : 'not_on_list')
  const untilMs = goodUntilMs(token.claims, lifetime)
  return { ok: true, principal, thumbprint: device.thumbprint, publicKey: device.publicKey, untilMs }
}

/** Token and device key are both required, because a token alone could be a copy. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function refused(reason: RejectionReason): { ok: false; reason: RejectionReason } {
  return { ok: false, reason }
}
