import { isBase64url, encodeBase64url } from '@atrium/sealing/base64url'

/** A public RSA key as a JWK (RFC 7517): modulus and exponent in base64url. Other members are ignored. */
export interface RsaPublicKey {
  kty: 'RSA'
  n: string
  e: string
}

/**
 * The id of a key's epoch: its thumbprint (RFC 7638, SHA-256, base64url, 43 characters). Compare it with `listEpochs`:
 * a key that is not in this public list may be unique to you and so identify your tokens.
 *
 * Throws TypeError if the key is not canonically encoded, because it would be another epoch for the same key.
 *
 * @example
 * const { data } = await client.getEpoch({ epoch })
 * if ((await epochOf(data.public_key)) !== epoch) throw new Error('The key is not that of the epoch')
 */
export async function epochOf({ kty, n, e }: RsaPublicKey): Promise<string> {
  // A leading zero byte is another encoding of the same number.
  if (kty !== 'RSA' || [n, e].some((integer) => !isBase64url(integer) || integer.length < 2 || /^A[A-P]/.test(integer)))
    throw new TypeError('The key is not a public RSA JWK in canonical base64url')
  // RFC 7638, 3.2: the required members only, in this order, without white space.
  const json = new TextEncoder().encode(JSON.stringify({ e, kty, n }))
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', json)))
}
