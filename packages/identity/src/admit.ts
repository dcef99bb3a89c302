import type { KeyObject } from 'node:crypto'
import { parseDeviceKey } from './device-key.ts'
import { type TokenDetail, type TokenExpectations, verifyIdToken } from './id-token.ts'

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

/** Where an account stands on an allow-list; `revoked` when it stood there and was taken off. */
export type Standing = 'listed' | 'revoked' | 'absent'

/** Opens the sealed allow-list and looks the account up. */
export type FindStanding = (account: Account) => Promise<Standing>

export type RejectionReason = 'unsigned' | `token: ${TokenDetail}` | 'nonce_mismatch' | 'not_on_list' | 'revoked'

export type Admission =
  | { readonly ok: true; readonly account: Account; readonly thumbprint: string; readonly publicKey: KeyObject }
  | { readonly ok: false; readonly reason: RejectionReason }

/**
 * Decides whether the bearer may pass, in the contract's order (part 5): token, nonce, list. The list stays closed until
 * the first two hold, so a stranger learns nothing of who is on it, not even by how long the answer takes.
 * Throws ProviderUnavailable when the token cannot be checked.
 */
export async function admit(
  { idToken, spk }: Presented,
  expected: TokenExpectations,
  findStanding: FindStanding,
): Promise<Admission> {
  if (isAbsent(idToken) || isAbsent(spk)) return refused('unsigned')
  const token = await verifyIdToken(idToken, expected)
  if (!token.ok) return refused(`token: ${token.reason}`)
  // A key that cannot be read has no thumbprint, so no nonce is bound to it.
  const device = parseDeviceKey(spk)
  if (device?.thumbprint !== token.claims.nonce) return refused('nonce_mismatch')
  const { iss: issuer, sub, email, name } = token.claims
  const account: Account = { email, sub, issuer, ...(name !== undefined && { name }) }
  const standing = await findStanding(account)
  if (standing !== 'listed') return refused(standing === 'revoked' ? 'revoked' : 'not_on_list')
  return { ok: true, account, thumbprint: device.thumbprint, publicKey: device.publicKey }
}

/** Half an identity is none: a token without a device key could be anyone's copy. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function refused(reason: RejectionReason): Admission {
  return { ok: false, reason }
}
