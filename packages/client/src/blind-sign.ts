import { constants, privateDecrypt, publicEncrypt, type KeyObject } from 'node:crypto'
import { decodeBase64url, encodeBase64url, isBase64url } from '@atrium/sealing/base64url'

const minModulusBits = 2_048
const maxModulusBits = 4_096

/**
 * For the issuer's server: signs what `prepareToken` blinded, without learning what it signs (RFC 9474, 4.3). Node only, since OpenSSL
 * does it in under a millisecond at 2,048 bits and guards the key's timing; it blocks for that long.
 *
 * Whoever gets a signature can redeem a token of the epoch's value: count what you sign, and sign only what was paid for. Use the key for
 * nothing else: it signs whatever it is shown.
 *
 * @param privateKey The epoch's RSA key, as `createPrivateKey` reads it from PEM or a JWK.
 * @param blinded `prepared.blinded`, base64url, as long as the modulus.
 * @returns The blind signature, base64url, as long as the modulus, for `finishToken`.
 * @throws TypeError on another kind of key, or on what is not a number below the modulus in canonical base64url.
 */
export function blindSign(privateKey: KeyObject, blinded: string): string {
  const { modulusLength = 0 } = privateKey.asymmetricKeyDetails ?? {}
  if (privateKey.type !== 'private' || privateKey.asymmetricKeyType !== 'rsa')
    throw new TypeError('The key must be a private RSA key')
  if (modulusLength < minModulusBits || modulusLength > maxModulusBits)
    throw new TypeError(`The key has ${modulusLength} bits, and not 2,048 to 4,096`)
  const message = isBase64url(blinded) ? decodeBase64url(blinded) : undefined
  if (message?.length !== Math.ceil(modulusLength / 8))
    throw new TypeError('What is to be signed must be canonical base64url, as long as the modulus')
  const raw = { key: privateKey, padding: constants.RSA_NO_PADDING }
  const signature = signRaw(raw, message)
  // 4.3, step 3: a signature with a fault in it would give the key away.
  if (!publicEncrypt(raw, signature).equals(message)) throw new Error('The signature came out wrong; it was not given out')
  return encodeBase64url(signature)
}

function signRaw(raw: { key: KeyObject; padding: number }, message: Uint8Array): Buffer {
  try {
    return privateDecrypt(raw, message)
  } catch (cause) {
    throw new TypeError('What is to be signed must be below the modulus', { cause })
  }
}
