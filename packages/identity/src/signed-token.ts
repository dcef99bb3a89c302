import type { KeyObject } from 'node:crypto'
import { decodeJsonPart, parseCompactJws } from './compact-jws.ts'
import { MAX_TOKEN_LENGTH } from './rs256-form.ts'
import { isRs256Signature } from './signature.ts'
import type { JsonObject } from '@atrium/contract/strict-json'

/** The source of the keys: `ProviderKeys`, or the keys of the platform's own issuer. */
export interface KeySource {
  find(kid: string | undefined): Promise<KeyObject | undefined>
}

export type SignedToken =
  | { readonly ok: true; readonly claims: JsonObject }
  | { readonly ok: false; readonly reason: 'malformed' | 'bad_signature' }

/**
 * Opens a signed token with the required `typ` in its header. The payload is not read before the signature is
 * verified, so any altered token is a `bad_signature`. Throws ProviderUnavailable if there are no keys to check
 * with.
 */
export async function openSignedToken(
  token: unknown,
  keys: KeySource,
  isRightType: (typ: unknown) => boolean,
): Promise<SignedToken> {
  const jws = parseCompactJws(token, MAX_TOKEN_LENGTH)
  if (!jws || !isRightType(jws.header.typ) || !isKid(jws.header.kid)) return { ok: false, reason: 'malformed' }
  if (jws.header.alg !== 'RS256') return { ok: false, reason: 'bad_signature' }
  // Keys come only from the issuer. `jwk`, `jku`, `x5c` and `x5u` in the header are untrusted and ignored.
  const key = await keys.find(jws.header.kid)
  if (!key || !isRs256Signature(key, jws.signedText, jws.signature)) return { ok: false, reason: 'bad_signature' }
  const claims = decodeJsonPart(jws.payload)
  return claims ? { ok: true, claims } : { ok: false, reason: 'malformed' }
}

function isKid(kid: unknown): kid is string | undefined {
  return kid === undefined || typeof kid === 'string'
}
