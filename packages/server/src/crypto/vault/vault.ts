import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  generateKeySync,
  hkdfSync,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'
import { randomBytes } from '../random.ts'
import type { SealedRef } from './sealed-columns.ts'

/**
 * The keys that derive from one master key. They are key objects: Node would convert a key in bytes at every call,
 * which costs more than the sealing.
 */
interface Keys {
  id: Buffer
  envelope: KeyObject
  /** For values of version 1, which have no envelope. They are opened, and no longer written. */
  row: KeyObject
  answer: KeyObject
  fingerprint: KeyObject
  digest: KeyObject
}

/** A process that has the key opens the value. */
export class UnknownMasterKeyError extends Error {
  override readonly name = 'UnknownMasterKeyError'
}

/**
 * Seals values at rest under the first of the master keys, and opens values that are sealed under any of them. A value
 * of a row is in an envelope: it is sealed under a key of its own, and that key under one derived from the master key.
 * A change of the master key therefore reseals the small key and never decrypts the value. The cipher is AES-256-GCM.
 * A sealed part is nonce (12 bytes) | ciphertext | tag (16):
 *
 *     envelope: version 2 (1 byte) | id of the master key (4) | the value's key, sealed (60) | the value, sealed
 *     answer:   version 1 (1 byte) | id of the master key (4) | the answer, sealed
 *     fingerprint: version 1 (1 byte) | id of the master key (4) | HMAC-SHA-256 (32), which is compared and never opened
 *
 * Values of version 1 are sealed under one key for all rows, as answers are. They still open, and become envelopes when
 * they are resealed.
 */
export class Vault {
  readonly #current: Keys
  readonly #all: [Keys, ...Keys[]]

  /** The first key seals. */
  constructor(masterKeys: readonly [Buffer, ...Buffer[]]) {
    const [first, ...others] = masterKeys
    this.#current = deriveKeys(first)
    this.#all = [this.#current, ...others.map(deriveKeys)]
  }

  /** The ids of the master keys; the id of the key that seals comes first. They are hashes, and not secret. */
  get keyIds(): [Buffer, ...Buffer[]] {
    const [{ id }, ...others] = this.#all
    return [id, ...others.map((keys) => keys.id)]
  }

  seal(plaintext: Buffer, place: SealedRef): Buffer {
    const context = placeBytes(place)
    const key = generateKeySync('aes', { length: 256 })
    return this.#envelope(key.export(), seal(key, plaintext, context), context)
  }

  open(sealed: Buffer, place: SealedRef): Buffer {
    const context = placeBytes(place)
    if (sealed[0] === oldVersion[0]) return open(this.#keysOf(sealed, oldVersion).row, sealed.subarray(headBytes), context)
    const { key, value } = this.#unwrap(sealed, context)
    return open(createSecretKey(key), value, context)
  }

  /**
   * Reseals a value in an envelope under the first master key, without opening the value. Throws like open if the
   * envelope is damaged.
   */
  rewrap(sealed: Buffer, place: SealedRef): Buffer {
    if (sealed[0] === oldVersion[0]) return this.seal(this.open(sealed, place), place)
    const context = placeBytes(place)
    const { key, value } = this.#unwrap(sealed, context)
    return this.#envelope(key, value, context)
  }

  /** Seals a value so that opening it needs the master key and the caller's secret. */
  sealWith(callerSecret: string, plaintext: Buffer): Buffer {
    const { id } = this.#current
    return Buffer.concat([answerVersion, id, seal(withCaller(this.#current.answer, callerSecret), plaintext, noContext)])
  }

  openWith(callerSecret: string, sealed: Buffer): Buffer {
    return open(withCaller(this.#keysOf(sealed, answerVersion).answer, callerSecret), sealed.subarray(headBytes), noContext)
  }

  /**
   * A fingerprint of a value, for a later comparison. The value cannot be guessed from it: it is an HMAC-SHA-256
   * whose key derives from the master key and the caller's secret. It begins with the id of the master key.
   */
  fingerprintWith(callerSecret: string, value: Buffer): Buffer {
    return fingerprint(this.#current, callerSecret, value)
  }

  /** Whether the fingerprint is of this value, under any of the master keys. Throws if its key is not configured. */
  isFingerprintWith(callerSecret: string, value: Buffer, stored: Buffer): boolean {
    const keys = this.#keysOf(stored, fingerprintVersion)
    const expected = fingerprint(keys, callerSecret, value)
    return stored.length === expected.length && timingSafeEqual(stored, expected)
  }

  /**
   * As fingerprintWith, but of a digest of 32 bytes, and by one HMAC instead of two: with a fixed length at the end, no
   * other secret and digest have the same bytes.
   */
  fingerprintDigestWith(callerSecret: string, digest: Buffer): Buffer {
    return digestFingerprint(this.#current, callerSecret, digest)
  }

  isDigestFingerprintWith(callerSecret: string, digest: Buffer, stored: Buffer): boolean {
    const expected = digestFingerprint(this.#keysOf(stored, fingerprintVersion), callerSecret, digest)
    return stored.length === expected.length && timingSafeEqual(stored, expected)
  }

  #envelope(key: Buffer, value: Buffer, context: Buffer): Buffer {
    const { id, envelope } = this.#current
    return Buffer.concat([envelopeVersion, id, seal(envelope, key, context), value])
  }

  #unwrap(sealed: Buffer, context: Buffer): { key: Buffer; value: Buffer } {
    const { envelope } = this.#keysOf(sealed, envelopeVersion)
    const end = headBytes + wrappedKeyBytes
    return { key: open(envelope, sealed.subarray(headBytes, end), context), value: sealed.subarray(end) }
  }

  #keysOf(sealed: Buffer, version: Buffer): Keys {
    if (sealed[0] !== version[0]) throw new Error('a sealed value is malformed')
    const keys = this.#all.find(({ id }) => id.equals(sealed.subarray(1, headBytes)))
    if (!keys) throw new UnknownMasterKeyError('a value is sealed under another master key')
    return keys
  }
}

const oldVersion = Buffer.from([1])
const answerVersion = Buffer.from([1])
const envelopeVersion = Buffer.from([2])
const fingerprintVersion = Buffer.from([1])
const headBytes = 5
const nonceBytes = 12
const tagBytes = 16
const wrappedKeyBytes = nonceBytes + 32 + tagBytes
const noContext = Buffer.alloc(0)

function seal(key: KeyObject, plaintext: Uint8Array, context: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(context)
  const ciphertext = cipher.update(plaintext)
  return Buffer.concat([nonce, ciphertext, cipher.final(), cipher.getAuthTag()])
}

function open(key: KeyObject, sealed: Buffer, context: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('a sealed value is malformed')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(context)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
}

function deriveKeys(masterKey: Buffer): Keys {
  return {
    id: createHash('sha256').update('atrium/master-key-id/v1').update(masterKey).digest().subarray(0, 4),
    envelope: derive(masterKey, 'atrium/vault/envelope/v2'),
    row: derive(masterKey, 'atrium/vault/row/v1'),
    answer: derive(masterKey, 'atrium/vault/answer/v1'),
    fingerprint: derive(masterKey, 'atrium/vault/fingerprint/v1'),
    digest: derive(masterKey, 'atrium/vault/digest/v1'),
  }
}

function fingerprint({ id, fingerprint: derived }: Keys, callerSecret: string, value: Buffer): Buffer {
  const mac = createHmac('sha256', withCaller(derived, callerSecret)).update(value).digest()
  return Buffer.concat([fingerprintVersion, id, mac])
}

function digestFingerprint({ id, digest: derived }: Keys, callerSecret: string, digest: Buffer): Buffer {
  if (digest.length !== 32) throw new Error('a digest has 32 bytes')
  const mac = createHmac('sha256', derived).update(callerSecret).update(digest).digest()
  return Buffer.concat([fingerprintVersion, id, mac])
}

/**
 * HMAC is the key derivation: the part derived from the master key is uniform, so one call of a PRF is what the
 * expand step of RFC 5869 would do.
 */
function withCaller(derived: KeyObject, secret: string): KeyObject {
  return createSecretKey(createHmac('sha256', derived).update(secret).digest())
}

function derive(masterKey: Buffer, info: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, 32)))
}

/** JSON of the parts, so that no two places have the same bytes. */
function placeBytes({ tenant, table, column, row }: SealedRef): Buffer {
  return Buffer.from(JSON.stringify([tenant, table, column, row]))
}
