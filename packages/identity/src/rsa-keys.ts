import { createPublicKey, type KeyObject } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@atrium/contract/strict-json'

/** Verification keys by `kid`; the key of a set's entry without one is under undefined. */
export type KeysByKid = ReadonlyMap<string | undefined, KeyObject>

/** Far more than any provider publishes. The limit protects time and memory against a broken or hostile set. */
const MAX_KEYS = 64
const MIN_MODULUS_BITS = 2048
/** Checking a signature under a longer key takes milliseconds, and so does an exponent as long as the modulus. */
const MAX_MODULUS_BITS = 8192
const MAX_EXPONENT = 2n ** 64n

/**
 * The keys of a JWK Set (RFC 7517 §5) that may verify RS256. Others are skipped, as §5 requires. Of keys with the
 * same kid, the first counts.
 */
export function importRs256Keys(jwkSet: unknown): KeysByKid {
  const keys = new Map<string | undefined, KeyObject>()
  const entries = isJsonObject(jwkSet) && Array.isArray(jwkSet.keys) ? jwkSet.keys : []
  for (const jwk of entries.slice(0, MAX_KEYS)) {
    if (!isJsonObject(jwk) || !isForRs256(jwk)) continue
    const { kid } = jwk
    if (keys.has(kid)) continue
    const key = importRsaKey(jwk)
    if (key) keys.set(kid, key)
  }
  return keys
}

function isForRs256(jwk: JsonObject): jwk is JsonObject & { kid?: string } {
  const { kty, use, alg, kid, key_ops: operations } = jwk
  return (
    kty === 'RSA' &&
    (use === undefined || use === 'sig') &&
    (alg === undefined || alg === 'RS256') &&
    (kid === undefined || typeof kid === 'string') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))
  )
}

function importRsaKey({ n, e }: JsonObject): KeyObject | undefined {
  if (typeof n !== 'string' || typeof e !== 'string') return undefined
  try {
    // Only n and e are read, so that an accidentally published private part is dropped.
    const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' })
    return isStrong(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** With an exponent of 1 a signature equals its message, so anyone can forge one. */
function isStrong(key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  const isFitModulus = modulusLength >= MIN_MODULUS_BITS && modulusLength <= MAX_MODULUS_BITS
  return isFitModulus && publicExponent >= 3n && publicExponent < MAX_EXPONENT && publicExponent % 2n === 1n
}
