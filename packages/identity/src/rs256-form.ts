import type { JsonObject } from '@atrium/contract/strict-json'

/** Far more than any provider publishes. The limit protects time and memory against a broken or hostile set. */
export const MAX_KEYS = 64
export const MAX_TOKEN_LENGTH = 16 * 1024
const MIN_MODULUS_BITS = 2048
/** Checking a signature under a longer key takes milliseconds, and so does an exponent as long as the modulus. */
const MAX_MODULUS_BITS = 8192
const MAX_EXPONENT = 2n ** 64n

/** Whether the entry of a JWK Set (RFC 7517 §5) may verify RS256. */
export function isForRs256(jwk: JsonObject): jwk is JsonObject & { kid?: string } {
  const { kty, use, alg, kid, key_ops: operations } = jwk
  return (
    kty === 'RSA' &&
    (use === undefined || use === 'sig') &&
    (alg === undefined || alg === 'RS256') &&
    (kid === undefined || typeof kid === 'string') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))
  )
}

/** With an exponent of 1 a signature equals its message, so anyone can forge one. */
export function isStrongRsa(modulusBits: number, exponent: bigint): boolean {
  const isFitModulus = modulusBits >= MIN_MODULUS_BITS && modulusBits <= MAX_MODULUS_BITS
  return isFitModulus && exponent >= 3n && exponent < MAX_EXPONENT && exponent % 2n === 1n
}

/**
 * RFC 8725 §3.11: a token typed as something else (`at+jwt`, `agent+jwt`) was made by the same keys for another use.
 */
export function isTypedAsJwt(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(?:application\/)?jwt$/i.test(typ))
}
