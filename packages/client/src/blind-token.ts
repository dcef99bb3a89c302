import { RSABSSA } from '@cloudflare/blindrsa-ts'
import { decodeBase64url, encodeBase64url, isBase64url } from '@atrium/sealing/base64url'
import { epochOf, type RsaPublicKey } from './epoch-of.ts'

const suite = RSABSSA.SHA384.PSS.Randomized()
const algorithm = { name: 'RSA-PSS', hash: 'SHA-384' } as const
const minModulusBits = 2_048
const maxModulusBits = 4_096
/** The longest token that `redeemWallet` accepts, without the prefix of 32 bytes. */
const maxMessageBytes = 1_050 - 32

/**
 * A token that waits for its signature. It is JSON-serialisable. Store it secretly until `finishToken` has made the
 * token: without it a paid signature is worthless, and with it the issuer could link the token to its buyer.
 */
export interface PreparedToken {
  epoch: string
  publicKey: RsaPublicKey
  /** The prepared message: a random prefix of 32 bytes, then the message. base64url. */
  token: string
  /** The blinded message for the issuer, which reveals nothing about the token. As long as the modulus, base64url. */
  blinded: string
  /** The inverse of the blinding factor, which finishToken needs. As long as the modulus, base64url. */
  inverse: string
}

/** The body of `redeemWallet`; a `recovery_key` may be added. */
export interface FinishedToken {
  token: string
  sig: string
  epoch: string
}

/**
 * Makes a new token and blinds it for the issuer (RSABSSA-SHA384-PSS-Randomized, RFC 9474, 4.1 and 4.2). Runs in
 * browsers and Node.
 *
 * @param publicKey The epoch's key (2,048 to 4,096 bits) from `getEpoch`. Do not use a key from another source, or that of
 *   an epoch that has ended (`expires_at`): nobody compares those with the log, so the key could be unique to you and
 *   identify your tokens.
 * @param message Up to 1,018 bytes that are part of the token and visible when it is redeemed, so include no personal data.
 *   Most tokens need none.
 * @throws TypeError if the API would not accept the key or message. If the key is not an RSA key: the error of Web Crypto.
 * @example
 * const { data } = await client.getEpoch({ epoch })
 * const prepared = await prepareToken(data.public_key)
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
 * Makes the token from the issuer's blind signature (RFC 9474, 4.4) and verifies it. The result can be redeemed until
 * the epoch expires. Anyone who has it can spend it.
 *
 * @param blindSignature The issuer's signature of `prepared.blinded`, base64url.
 * @throws TypeError if the signature is malformed; Error if it does not verify for this token and key. `prepared` stays usable.
 * @example
 * const token = await finishToken(prepared, blindSignature)
 * const { data: wallet } = await client.redeemWallet({ body: { ...token, recovery_key } })
 */
export async function finishToken(prepared: PreparedToken, blindSignature: string): Promise<FinishedToken> {
  const { publicKey, token, blinded, inverse, epoch } = prepared
  if (!isBase64url(blindSignature) || blindSignature.length !== blinded.length)
    throw new TypeError('The blind signature must be base64url, as long as the blinded message')
  const key = await importKey(publicKey)
  try {
    const sig = await suite.finalize(key, decodeBase64url(token), decodeBase64url(blindSignature), decodeBase64url(inverse))
    return { token, sig: encodeBase64url(sig), epoch }
  } catch (cause) {
    throw new Error('The blind signature does not verify for this token and key', { cause })
  }
}

function assertSound({ n, e }: RsaPublicKey): void {
  const [modulus, exponent] = [decodeBase64url(n), decodeBase64url(e)]
  const bits = modulus.length * 8 - (Math.clz32(modulus[0] ?? 0) - 24)
  if (bits < minModulusBits || bits > maxModulusBits) throw new TypeError(`The key has ${bits} bits; it must have 2,048 to 4,096`)
  const isOdd = [modulus, exponent].every((integer) => (integer.at(-1) ?? 0) % 2 === 1)
  if (!isOdd || (exponent.length === 1 && (exponent[0] ?? 0) < 3)) throw new TypeError('The key is not a valid RSA key')
}

function importKey({ n, e }: RsaPublicKey) {
  // Only these members, because a browser rejects a key whose other members (such as `alg`) do not match.
  return crypto.subtle.importKey('jwk', { kty: 'RSA', n, e }, algorithm, true, ['verify'])
}
