import { createPublicKey, type KeyObject } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@atrium/contract/strict-json'
import { isForRs256, isStrongRsa, MAX_KEYS } from './rs256-form.ts'

/** Verification keys by `kid`; the key of a set's entry without one is under undefined. */
export type KeysByKid = ReadonlyMap<string | undefined, KeyObject>

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

function importRsaKey({ n, e }: JsonObject): KeyObject | undefined {
  if (typeof n !== 'string' || typeof e !== 'string') return undefined
  try {
    // Only n and e are read, so that an accidentally published private part is dropped.
    const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' })
    const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
    return isStrongRsa(modulusLength, publicExponent) ? key : undefined
  } catch {
    return undefined
  }
}
