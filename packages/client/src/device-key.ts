import { encodeBase64url } from '@atrium/sealing/base64url'

/** A public P-256 key as a JWK (RFC 7518, 6.2): the members that count. */
export interface DevicePublicKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

/** The key that says which device it is: `spk` travels with every request, the private half never leaves the platform's keeping. */
export interface DeviceKey {
  readonly spk: DevicePublicKey
  /** Thumbprint of spk (RFC 7638): the nonce to ask the identity provider for. */
  readonly thumbprint: string
  /** ES256 over the bytes, as a JWS has it (RFC 7518, 3.4): 64 bytes. */
  readonly sign: (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/**
 * A fresh device key, by Web Crypto: its private half cannot be exported. In a page it lasts as long as the page; one that is to last
 * longer is a CryptoKeyPair in IndexedDB.
 */
export async function makeDeviceKey(): Promise<DeviceKey> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
  const { x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const spk: DevicePublicKey = { kty: 'EC', crv: 'P-256', x: x!, y: y! }
  return {
    spk,
    thumbprint: await thumbprintOf(spk),
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, bytes)),
  }
}

/** RFC 7638, 3.2: the required members only, in this order, without white space. */
async function thumbprintOf({ crv, kty, x, y }: DevicePublicKey): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify({ crv, kty, x, y }))
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', json)))
}
