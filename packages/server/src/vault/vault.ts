import { createCipheriv, createDecipheriv, createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { randomBytes } from '../random.ts'
import type { Place } from './sealed-columns.ts'

/** What derives from one master key. Key objects: a key given as bytes is made into one at every call, which costs more than the sealing. */
interface Keys {
  id: Buffer
  row: KeyObject
  answer: KeyObject
}

/**
 * Seals values at rest under keys derived from the first of the master keys, and opens what was sealed under any of them.
 * AES-256-GCM; the form is version (1 byte) | id of the master key (4) | nonce (12) | ciphertext | tag (16).
 */
export class Vault {
  readonly #current: Keys
  readonly #all: Keys[]

  /** The first one seals. */
  constructor(masterKeys: readonly [Buffer, ...Buffer[]]) {
    this.#all = masterKeys.map(deriveKeys)
    this.#current = this.#all[0]!
  }

  /** The ids of the master keys, the one that seals first. They are hashes, and no secret. */
  get keyIds(): Buffer[] {
    return this.#all.map(({ id }) => id)
  }

  seal(plaintext: Buffer, place: Place): Buffer {
    return this.#seal(this.#current.row, plaintext, placeBytes(place))
  }

  open(sealed: Buffer, place: Place): Buffer {
    return open(this.#keysOf(sealed).row, sealed, placeBytes(place))
  }

  /** Sealed so that opening it takes the master key and the caller's secret too. */
  sealWith(callerSecret: string, plaintext: Buffer): Buffer {
    return this.#seal(withCaller(this.#current, callerSecret), plaintext, noContext)
  }

  openWith(callerSecret: string, sealed: Buffer): Buffer {
    return open(withCaller(this.#keysOf(sealed), callerSecret), sealed, noContext)
  }

  #seal(key: KeyObject, plaintext: Buffer, context: Buffer): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
    cipher.setAAD(context)
    const ciphertext = cipher.update(plaintext)
    return Buffer.concat([version, this.#current.id, nonce, ciphertext, cipher.final(), cipher.getAuthTag()])
  }

  #keysOf(sealed: Buffer): Keys {
    if (sealed.length < 33 || sealed[0] !== 1) throw new Error('a sealed value is malformed')
    const keys = this.#all.find(({ id }) => id.equals(sealed.subarray(1, 5)))
    if (!keys) throw new Error('a value is sealed under another master key')
    return keys
  }
}

function open(key: KeyObject, sealed: Buffer, context: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17), { authTagLength: 16 })
  decipher.setAAD(context)
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(17, -16)), decipher.final()])
}

const version = Buffer.from([1])
const noContext = Buffer.alloc(0)

function deriveKeys(masterKey: Buffer): Keys {
  return {
    id: createHash('sha256').update('atrium/master-key-id/v1').update(masterKey).digest().subarray(0, 4),
    row: derive(masterKey, 'atrium/vault/row/v1'),
    answer: derive(masterKey, 'atrium/vault/answer/v1'),
  }
}

/** HMAC as a key derivation: the derived master part is uniform, so one PRF call is all that RFC 5869's expand step would do. */
function withCaller({ answer }: Keys, secret: string): KeyObject {
  return createSecretKey(createHmac('sha256', answer).update(secret).digest())
}

function derive(masterKey: Buffer, info: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, 32)))
}

/** JSON of the parts: no two places share the bytes. */
function placeBytes({ tenant, table, column, row }: Place): Buffer {
  return Buffer.from(JSON.stringify([tenant, table, column, row]))
}
