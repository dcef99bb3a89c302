import { createPublicKey, type KeyObject } from 'node:crypto'
import { decodeBase64url } from './base64url.ts'
import { isJsonObject, parseJsonObject } from '@atrium/contract/strict-json'
import { type EcPublicJwk, thumbprint } from './thumbprint.ts'

/** A device's public signing key (`spk`), parsed and ready to verify with. */
export interface DeviceKey {
  readonly jwk: EcPublicJwk
  readonly thumbprint: string
  readonly publicKey: KeyObject
}

const MAX_JWK_LENGTH = 2048

/**
 * Device keys that were used recently. A check of a signature takes 95 µs. With a key that is imported for it, it takes
 * 60 µs more. Each key takes 6 KiB, most of it outside the heap.
 */
const imported = new Map<string, DeviceKey>()
const MAX_IMPORTED = 1_000

/**
 * Parses `spk`, which is a JWK in a JSON body or its JSON text in a header. Returns undefined unless it is the
 * public part of an EC P-256 key in canonical encoding, with its point on the curve. Members that browsers add on
 * export (`ext`, `key_ops`, `kid`…) are dropped.
 */
export function parseDeviceKey(spk: unknown): DeviceKey | undefined {
  const jwk = parseEcPublicJwk(typeof spk === 'string' ? parseJwkText(spk) : spk)
  return jwk && (imported.get(jwk.x + jwk.y) ?? importDevice(jwk))
}

function parseJwkText(text: string): unknown {
  return text.length <= MAX_JWK_LENGTH ? parseJsonObject(text) : undefined
}

function parseEcPublicJwk(value: unknown): EcPublicJwk | undefined {
  if (!isJsonObject(value)) return undefined
  const { kty, crv, x, y } = value
  // A private key in a request is no longer secret, so it must not prove anything.
  if (kty !== 'EC' || crv !== 'P-256' || 'd' in value) return undefined
  return isCoordinate(x) && isCoordinate(y) ? { kty, crv, x, y } : undefined
}

/**
 * RFC 7518 §6.2.1.2: always the full 32 bytes including leading zeros; otherwise one key would have several
 * thumbprints.
 */
function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && value.length === 43 && decodeBase64url(value)?.length === 32
}

function importDevice(jwk: EcPublicJwk): DeviceKey | undefined {
  try {
    const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    const device = { jwk, thumbprint: thumbprint(jwk), publicKey }
    if (imported.size >= MAX_IMPORTED) imported.clear()
    imported.set(jwk.x + jwk.y, device)
    return device
  } catch {
    return undefined // OpenSSL found the point off the curve, or a coordinate outside the field
  }
}
