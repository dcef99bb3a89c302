import { calculateJwkThumbprint, CompactEncrypt, importJWK, type JWK } from '#libraries/jose.js'
import { invalid } from '#errors/api-error.ts'

/** A public JWK, as it arrived in a request. */
export type RecipientJwk = Record<string, unknown>

/** Throws if nothing could be sealed to the key. */
export async function assertRecipient(jwk: RecipientJwk, path: string): Promise<void> {
  const supported =
    (jwk['kty'] === 'EC' && jwk['crv'] === 'P-256' && jwk['y'] !== undefined) ||
    (jwk['kty'] === 'OKP' && jwk['crv'] === 'X25519' && jwk['y'] === undefined)
  if (!supported) throw invalid(path, 'must be an EC P-256 or an OKP X25519 key')
  try {
    await sealTo(jwk, '')
  } catch {
    throw invalid(path, 'is not a valid public key')
  }
}

/**
 * Seals a text so that only the owner of the key can open it: a compact JWE (RFC 7516) with ECDH-ES+A256KW and
 * A256GCM.
 */
export async function sealTo(jwk: RecipientJwk, text: string): Promise<string> {
  const key = await importJWK(publicPart(jwk), 'ECDH-ES+A256KW')
  const kid = jwk['kid']
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ...(typeof kid === 'string' ? { kid } : {}) })
    .encrypt(key)
}

/** The thumbprint of a key (RFC 7638). It does not depend on the order or the form of the members. */
export function recipientThumbprint(jwk: RecipientJwk): Promise<string> {
  return calculateJwkThumbprint(publicPart(jwk))
}

function publicPart({ kty, crv, x, y }: RecipientJwk): JWK {
  return { kty, crv, x, ...(y === undefined ? {} : { y }) } as JWK
}
