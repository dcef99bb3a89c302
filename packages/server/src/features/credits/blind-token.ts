import { constants, createPublicKey, hash, verify, type KeyObject } from 'node:crypto'
import { decodeBase64url } from '@atrium/identity/base64url'
import { invalid } from '#errors/api-error.ts'

/** What makes an RSA key (RFC 7518, 6.3.1), and nothing else. */
export interface RsaPublicKey {
  kty: 'RSA'
  n: string
  e: string
}

export interface EpochKey {
  key: KeyObject
  /** The id of the key's epoch: its RFC 7638 thumbprint. */
  epoch: string
  publicKey: RsaPublicKey
}

const minModulusBits = 2_048
const maxModulusBits = 4_096
/** Of the randomized variant (RFC 9474, 4.1): makes a token that was never there before, whatever message follows. */
const prefixBytes = 32
const saltBytes = 48

/** Reads the key of an epoch out of a request; throws 400 on what is no sane public RSA key. */
export function readEpochKey({ n, e }: { n: string; e: string }): EpochKey {
  const modulus = readInteger(n, '/public_key/n')
  const bits = modulus.length * 8 - (Math.clz32(modulus[0]!) - 24)
  if (bits < minModulusBits || bits > maxModulusBits) throw invalid('/public_key/n', 'must have 2,048 to 4,096 bits')
  if (isEven(modulus)) throw invalid('/public_key/n', 'must be odd')
  const exponent = readInteger(e, '/public_key/e')
  // With an exponent of 1 a signature is its own message, and anyone can write one.
  if (isEven(exponent) || (exponent.length === 1 && exponent[0]! < 3))
    throw invalid('/public_key/e', 'must be odd and at least 3')
  // RFC 7638, 3.2: the required members only, in this order, without white space.
  const epoch = hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url')
  const publicKey = { kty: 'RSA', n, e } as const
  return { key: createPublicKey({ key: { ...publicKey }, format: 'jwk' }), epoch, publicKey }
}

/** Two spellings of one integer would be two epochs of one key. */
function readInteger(text: string, path: string): Buffer {
  const bytes = decodeBase64url(text)
  if (!bytes) throw invalid(path, 'must be canonical base64url without padding')
  if (bytes.length === 0 || bytes[0] === 0) throw invalid(path, 'must be a positive integer without leading zero bytes')
  return bytes
}

function isEven(integer: Buffer): boolean {
  return integer.at(-1)! % 2 === 0
}

/** The bytes of a token or of its signature; throws 400 on any spelling but the canonical one, so that one token has one text. */
export function decodeToken(text: string, path: string): Buffer {
  const bytes = decodeBase64url(text)
  if (!bytes) throw invalid(path, 'must be canonical base64url without padding')
  return bytes
}

/** Whether `signature` makes `token` (prefix and message) good for the epoch: RSABSSA-SHA384-PSS-Randomized, RFC 9474, 4.5. */
export function verifyToken(key: KeyObject, token: Buffer, signature: Buffer): boolean {
  return token.length >= prefixBytes && isPssSignature(key, token, signature)
}

/** RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48 bytes (RFC 8017, 8.1.2), of exactly the modulus's length. */
export function isPssSignature(key: KeyObject, message: Buffer, signature: Buffer): boolean {
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (signature.length !== Math.ceil(modulusLength / 8)) return false
  // Stated: left to itself, Node takes a signature with a salt of any length. MGF1 takes the hash of the signature.
  const padding = constants.RSA_PKCS1_PSS_PADDING
  return verify('sha384', message, { key, padding, saltLength: saltBytes }, signature)
}
