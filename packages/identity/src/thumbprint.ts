import { createHash } from 'node:crypto'

/** The public members of an EC P-256 key (RFC 7518 §6.2), and nothing else. */
export interface EcPublicJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/**
 * The RFC 7638 thumbprint: base64url(SHA-256(canonical JWK)). It names a device key, and is the nonce of every ID token
 * made for that device. Give it only keys that `parseDeviceKey` has read: it hashes what it is given.
 */
export function thumbprint({ crv, kty, x, y }: EcPublicJwk): string {
  // RFC 7638 §3.2: the required members only, in this order, without white space.
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}
