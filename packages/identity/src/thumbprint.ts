import { createHash } from 'node:crypto'

/** Only the public members of an EC P-256 key (RFC 7518 §6.2). */
export interface EcPublicJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/**
 * The RFC 7638 thumbprint: base64url(SHA-256(canonical JWK)). It identifies a device key, and is the nonce of every
 * ID token for that device. The key must come from `parseDeviceKey`, because this function does not check it.
 */
export function thumbprint({ crv, kty, x, y }: EcPublicJwk): string {
  // RFC 7638 §3.2: the required members only, in this order, without white space.
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}
