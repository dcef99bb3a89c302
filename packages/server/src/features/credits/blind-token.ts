import { checkPrimeSync, constants, createPublicKey, hash, verify, type KeyObject } from 'node:crypto'
import { decodeBase64url } from '@atrium/identity/base64url'
import { invalid } from '#errors/api-error.ts'

/** The required members of an RSA key (RFC 7518, 6.3.1), and no others. */
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
/** The prefix of the randomized variant (RFC 9474, 4.1) makes every token unique, whatever message follows. */
const prefixBytes = 32
const saltBytes = 48

/** Reads the key of an epoch from a request. Throws 400 where it is not a well-formed public RSA key. */
export function readEpochKey({ n, e }: { n: string; e: string }): EpochKey {
  const modulus = readInteger(n, '/public_key/n')
  const bits = modulus.length * 8 - (Math.clz32(modulus[0] ?? 0) - 24)
  if (bits < minModulusBits || bits > maxModulusBits) throw invalid('/public_key/n', 'must have 2,048 to 4,096 bits')
  if (isEven(modulus)) throw invalid('/public_key/n', 'must be odd')
  const exponent = readInteger(e, '/public_key/e')
  // With an exponent of 1 a signature equals its message, so that anyone can forge one.
  if (isEven(exponent) || (exponent.length === 1 && (exponent[0] ?? 0) < 3))
    throw invalid('/public_key/e', 'must be odd and at least 3')
  // RFC 7638, 3.2: only the required members, in this order, without white space.
  const epoch = hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url')
  const publicKey = { kty: 'RSA', n, e } as const
  return { key: createPublicKey({ key: { ...publicKey }, format: 'jwk' }), epoch, publicKey }
}

const maxFactor = 1_000

const smallPrimes = oddPrimesBelow(maxFactor)

/**
 * Throws 400 where the modulus of a new epoch's key is easy to factor, so that anyone could sign tokens. Called when
 * an epoch is published, not when one is read: a published epoch stays. That the modulus has two large secret factors
 * cannot be verified.
 */
export function assertSoundKey({ n }: RsaPublicKey): void {
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
  if (smallPrimes.some((prime) => modulus % BigInt(prime) === 0n))
    throw invalid('/public_key/n', `must not have a factor below ${maxFactor}`)
  if (squareRoot(modulus) ** 2n === modulus) throw invalid('/public_key/n', 'must not be a square')
  // For a composite number the first round is enough.
  if (checkPrimeSync(modulus, { checks: 8 })) throw invalid('/public_key/n', 'must not be a prime')
}

/** Rounded down, by Newton's method. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

/** Accepts one encoding only: a second encoding of the integer would make a second epoch of one key. */
function readInteger(text: string, path: string): Buffer {
  const bytes = decodeBase64url(text)
  if (!bytes) throw invalid(path, 'must be canonical base64url without padding')
  if (bytes.length === 0 || bytes[0] === 0) throw invalid(path, 'must be a positive integer without leading zero bytes')
  return bytes
}

function isEven(integer: Buffer): boolean {
  return (integer.at(-1) ?? 0) % 2 === 0
}

/**
 * The bytes of a token or a signature. Throws 400 on any encoding but the canonical one, so that one token has one
 * text.
 */
export function decodeToken(text: string, path: string): Buffer {
  const bytes = decodeBase64url(text)
  if (!bytes) throw invalid(path, 'must be canonical base64url without padding')
  return bytes
}

/**
 * Whether `signature` is valid for `token` (prefix and message) under the epoch's key: RSABSSA-SHA384-PSS-Randomized,
 * RFC 9474, 4.5.
 */
export function verifyToken(key: KeyObject, token: Buffer, signature: Buffer): boolean {
  return token.length >= prefixBytes && isPssSignature(key, token, signature)
}

/**
 * RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48 bytes (RFC 8017, 8.1.2), of exactly the modulus's
 * length.
 */
export function isPssSignature(key: KeyObject, message: Buffer, signature: Buffer): boolean {
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (signature.length !== Math.ceil(modulusLength / 8)) return false
  // Explicit, because by default Node accepts a salt of any length. MGF1 uses the hash of the signature.
  const padding = constants.RSA_PKCS1_PSS_PADDING
  return verify('sha384', message, { key, padding, saltLength: saltBytes }, signature)
}

function oddPrimesBelow(limit: number): readonly number[] {
  const primes: number[] = []
  for (let n = 3; n < limit; n += 2) if (!primes.some((prime) => n % prime === 0)) primes.push(n)
  return primes
}
