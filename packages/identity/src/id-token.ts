import type { KeyObject } from 'node:crypto'
import { decodeJsonPart, parseCompactJws } from './compact-jws.ts'
import { type IdTokenClaims, type ClaimsProblem, type ExpectedClaims, checkClaims } from './id-token-claims.ts'
import { isRs256Signature } from './signature.ts'

/** Why a token was refused; the Space endpoint says it as `token: <detail>`. */
export type TokenDetail = 'malformed' | 'bad_signature' | ClaimsProblem

export type TokenVerdict =
  | { readonly ok: true; readonly claims: IdTokenClaims }
  | { readonly ok: false; readonly reason: TokenDetail }

/** Where keys come from: `ProviderKeys`, or for an issuer of our own the keys themselves. */
export interface KeySource {
  find(kid: string | undefined): Promise<KeyObject | undefined>
}

export interface TokenExpectations extends ExpectedClaims {
  readonly keys: KeySource
}

const MAX_TOKEN_LENGTH = 16 * 1024

/**
 * Verifies an OpenID Connect ID token (Core §3.1.3.7). The first check that fails names the reason:
 *
 * 1. `malformed`      at most 16 KiB, three parts, a readable header that claims to be of a JWT and asks for no extension
 * 2. `bad_signature`  RS256 and nothing else, by a key that the provider publishes, over the exact text
 * 3. `malformed`      the claims are one JSON object, and `sub nonce exp iat nbf` have their types
 * 4. `bad_issuer`     then `bad_aud`, `expired`, `not_yet_valid`, `unverified_email`: see checkClaims
 *
 * Nothing in the payload is even read before its signature holds, so anything tampered with is a `bad_signature`.
 * Throws ProviderUnavailable when there are no keys to check with: that says nothing about the token.
 */
export async function verifyIdToken(token: unknown, expected: TokenExpectations): Promise<TokenVerdict> {
  const jws = parseCompactJws(token, MAX_TOKEN_LENGTH)
  if (!jws || !isTypedAsJwt(jws.header.typ) || !isKid(jws.header.kid)) return refused('malformed')
  if (jws.header.alg !== 'RS256') return refused('bad_signature')
  // Keys come from the provider alone: `jwk`, `jku`, `x5c`, `x5u` in the header are the sender's word and are ignored.
  const key = await expected.keys.find(jws.header.kid)
  if (!key || !isRs256Signature(key, jws.signedText, jws.signature)) return refused('bad_signature')
  const payload = decodeJsonPart(jws.payload)
  return payload ? checkClaims(payload, expected) : refused('malformed')
}

/** RFC 8725 §3.11: a token typed as something else (`at+jwt`, `logout+jwt`) was made by the same keys for another use. */
function isTypedAsJwt(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(?:application\/)?jwt$/i.test(typ))
}

function isKid(kid: unknown): kid is string | undefined {
  return kid === undefined || typeof kid === 'string'
}

function refused(reason: TokenDetail): TokenVerdict {
  return { ok: false, reason }
}
