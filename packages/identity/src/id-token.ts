import { parseEmail } from './email.ts'
import { isTypedAsJwt } from './rs256-form.ts'
import { type KeySource, openSignedToken } from './signed-token.ts'
import { checkTokenClaims, type ExpectedClaims, type TokenClaims, type TokenClaimsProblem } from './token-claims.ts'

/** The verified claims of a person's account. `email` is in comparison form (see parseEmail). */
export interface IdTokenClaims extends TokenClaims {
  readonly email: string
}

/** Why a token was rejected. The Space endpoint returns it as `token: <detail>`. */
export type TokenDetail = 'bad_signature' | TokenClaimsProblem | 'unverified_email'

export type TokenVerdict<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: TokenDetail }

export interface TokenExpectations extends ExpectedClaims {
  readonly keys: KeySource
}

/**
 * Verifies an OpenID Connect ID token (Core §3.1.3.7). The first check that fails names the reason:
 *
 * 1. `malformed`      at most 16 KiB, three parts, a readable header that claims to be of a JWT and asks for no extension
 * 2. `bad_signature`  RS256 and nothing else, by a key that the provider publishes, over the exact text
 * 3. `malformed`      the claims are one JSON object, and `sub nonce exp iat nbf` have their types
 * 4. `bad_issuer`     then `bad_aud`, `expired`, `not_yet_valid` (see checkTokenClaims), `unverified_email`
 *
 * Throws ProviderUnavailable when there are no keys to check with: that says nothing about the token.
 */
export async function verifyIdToken(token: unknown, expected: TokenExpectations): Promise<TokenVerdict<IdTokenClaims>> {
  const opened = await openSignedToken(token, expected.keys, isTypedAsJwt)
  if (!opened.ok) return opened
  const claims = checkTokenClaims(opened.claims, expected)
  if (typeof claims === 'string') return { ok: false, reason: claims }
  const email = parseEmail(opened.claims.email)
  // Exactly true: the string "false" is truthy, and an unverified address proves nothing.
  if (email === undefined || opened.claims.email_verified !== true) return { ok: false, reason: 'unverified_email' }
  return { ok: true, claims: { ...claims, email } }
}
