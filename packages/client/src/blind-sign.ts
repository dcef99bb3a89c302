import { constants, privateDecrypt, publicEncrypt, type KeyObject } from 'node:crypto'
import { decodeBase64url, encodeBase64url, isBase64url } from '@atrium/sealing/base64url'

const minModulusBits = 2_048
const maxModulusBits = 4_096

/**
 * For the issuer's server: signs the output of `prepareToken` without learning the token (RFC 9474, 4.3). Node only,
 * because OpenSSL does this in under a millisecond at 2,048 bits and in constant time. The call is synchronous.
 *
 * Each signature can be redeemed for the epoch's value: count your signatures, and sign only after payment. Use the
 * key for nothing else, because a blind signature can be a signature over anything.
 *
 * @param privateKey The epoch's RSA key, as `createPrivateKey` reads it from PEM or a JWK.
 * @param blinded `prepared.blinded`, base64url, as long as the modulus.
 * @returns The blind signature, base64url, as long as the modulus, for `finishToken`.
 * @throws TypeError if the key is of another kind, or if `blinded` is not a number below the modulus in canonical base64url.
 * @example
 * const blindSignature = blindSign(createPrivateKey(await readFile('epoch.pem')), blinded)
 */
export function blindSign(privateKey: KeyObject, blinded: string): string {
  const { modulusLength = 0 } = privateKey.asymmetricKeyDetails ?? {}
  if (privateKey.type !== 'private' || privateKey.asymmetricKeyType !== 'rsa')
    throw new TypeError('The key must be a private RSA key')
  if (modulusLength < minModulusBits || modulusLength > maxModulusBits)
    throw new TypeError(`The key has ${modulusLength} bits; it must have 2,048 to 4,096`)
  const message = isBase64url(blinded) ? decodeBase64url(blinded) : undefined
  if (message?.length !== Math.ceil(modulusLength / 8))
    throw new TypeError('The blinded message must be canonical base64url, as long as the modulus')
  const raw = { key: privateKey, padding: constants.RSA_NO_PADDING }
  const signature = signRaw(raw, message)
  // 4.3, step 3: a signature from a faulty computation would reveal the key.
  if (!publicEncrypt(raw, signature).equals(message))
    throw new Error('The computed signature does not verify and was not returned')
  return encodeBase64url(signature)
}

function signRaw(raw: { key: KeyObject; padding: number }, message: Uint8Array): Buffer {
  try {
    return privateDecrypt(raw, message)
  } catch (cause) {
    throw new TypeError('The blinded message must be below the modulus', { cause })
  }
}
