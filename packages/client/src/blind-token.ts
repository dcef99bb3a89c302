import { RSABSSA } from '@cloudflare/blindrsa-ts'
import { decodeBase64url, encodeBase64url, isBase64url } from '@atrium/sealing/base64url'
import { epochOf, type RsaPublicKey } from './epoch-of.ts'

const suite = RSABSSA.SHA384.PSS.Randomized()
const algorithm = { name: 'RSA-PSS', hash: 'SHA-384' } as const
const minModulusBits = 2_048
const maxModulusBits = 4_096
/** What `redeemWallet` takes as a token, but for the prefix of 32 bytes. */
const maxMessageBytes = 1_050 - 32

/**
 * A token on its way to being signed: text alone, so that it can be kept. Keep it, and keep it secret, until `finishToken` has made the
 * token: without it a signature that was paid for is worth nothing, and with it the issuer could tell whose token it was.
 */
export interface PreparedToken {
  epoch: string
  publicKey: RsaPublicKey
  /** The prepared message: a random prefix of 32 bytes, and the message. base64url. */
  token: string
  /** For the issuer to sign; tells nothing of the token. As long as the modulus, base64url. */
  blinded: string
  /** Takes the blinding off again. As long as the modulus, base64url. */
  inverse: string
}

/** What `redeemWallet` takes as its body; a `recovery_key` may be added. */
export interface FinishedToken {
  token: string
  sig: string
  epoch: string
}

/**
 * Makes a fresh token and blinds it for the issuer (RSABSSA-SHA384-PSS-Randomized, RFC 9474, 4.1 and 4.2). In a browser and in Node.
 *
 * @param publicKey The epoch's key, of 2,048 to 4,096 bits, as `getEpoch` shows it to everyone: not one that the issuer hands out elsewhere.
 * @param message Up to 1,018 bytes that go with the token. Whoever redeems the token shows them, so put nothing of a person there. Most
 *   tokens need none.
 * @throws TypeError on a key or message that the API would not take. A key that is no RSA key at all: what the platform's Web Crypto throws.
 */
export async function prepareToken(publicKey: RsaPublicKey, message = new Uint8Array()): Promise<PreparedToken> {
  const epoch = await epochOf(publicKey)
  assertSound(publicKey)
  if (message.length > maxMessageBytes) throw new TypeError(`The message has more than ${maxMessageBytes} bytes`)
  const key = await importKey(publicKey)
  const token = suite.prepare(message)
  const { blindedMsg, inv } = await suite.blind(key, token)
  return {
    epoch,
    publicKey: { kty: 'RSA', n: publicKey.n, e: publicKey.e },
    token: encodeBase64url(token),
    blinded: encodeBase64url(blindedMsg),
    inverse: encodeBase64url(inv),
  }
}

/**
 * Makes the token out of what the issuer signed (RFC 9474, 4.4), and checks that it is good: what comes back can be redeemed while the epoch
 * lasts. Whoever holds it can spend it.
 *
 * @param blindSignature What the issuer made of `prepared.blinded`, base64url.
 * @throws TypeError when that has not the form of a signature; Error when it is none of this token and key. `prepared` stays good.
 */
export async function finishToken(prepared: PreparedToken, blindSignature: string): Promise<FinishedToken> {
  const { publicKey, token, blinded, inverse, epoch } = prepared
  if (!isBase64url(blindSignature) || blindSignature.length !== blinded.length)
    throw new TypeError('The blind signature must be base64url, as long as what was to be signed')
  const key = await importKey(publicKey)
  try {
    const sig = await suite.finalize(key, decodeBase64url(token), decodeBase64url(blindSignature), decodeBase64url(inverse))
    return { token, sig: encodeBase64url(sig), epoch }
  } catch (cause) {
    throw new Error('The blind signature is not one of this token by this key', { cause })
  }
}

function assertSound({ n, e }: RsaPublicKey): void {
  const [modulus, exponent] = [decodeBase64url(n), decodeBase64url(e)]
  const bits = modulus.length * 8 - (Math.clz32(modulus[0]!) - 24)
  if (bits < minModulusBits || bits > maxModulusBits) throw new TypeError(`The key has ${bits} bits, and not 2,048 to 4,096`)
  const isOdd = [modulus, exponent].every((integer) => integer.at(-1)! % 2 === 1)
  if (!isOdd || (exponent.length === 1 && exponent[0]! < 3)) throw new TypeError('The key is none that RSA can have')
}

function importKey({ n, e }: RsaPublicKey) {
  // Only these two: a browser refuses a key whose other members do not suit it.
  return crypto.subtle.importKey('jwk', { kty: 'RSA', n, e }, algorithm, true, ['verify'])
}
