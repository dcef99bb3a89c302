import { createCipheriv, createDecipheriv, createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { randomBytes } from './random.ts'

/** Where a sealed value lives. It opens only there: ciphertext moved to another row, column or tenant is refused. */
export interface Place {
  tenant: string
  table: string
  column: string
  row: string
}

/**
 * Seals values at rest under keys derived from the master key. AES-256-GCM; the form is
 * version (1 byte) | id of the master key (4) | nonce (12) | ciphertext | tag (16).
 */
export class Vault {
  readonly #keyId: Buffer
  // Key objects: a key given as bytes is made into one at every call, which costs more than the sealing itself.
  readonly #rowKey: KeyObject
  readonly #answerKey: KeyObject

  constructor(masterKey: Buffer) {
    this.#keyId = createHash('sha256').update('atrium/master-key-id/v1').update(masterKey).digest().subarray(0, 4)
    this.#rowKey = derive(masterKey, 'atrium/vault/row/v1')
    this.#answerKey = derive(masterKey, 'atrium/vault/answer/v1')
  }

  seal(plaintext: Buffer, place: Place): Buffer {
    return this.#seal(this.#rowKey, plaintext, placeBytes(place))
  }

  open(sealed: Buffer, place: Place): Buffer {
    return this.#open(this.#rowKey, sealed, placeBytes(place))
  }

  /** Sealed so that opening it takes the master key and the caller's secret too. */
  sealWith(callerSecret: string, plaintext: Buffer): Buffer {
    return this.#seal(this.#withCaller(callerSecret), plaintext, noContext)
  }

  openWith(callerSecret: string, sealed: Buffer): Buffer {
    return this.#open(this.#withCaller(callerSecret), sealed, noContext)
  }

  /** HMAC as a key derivation: the derived master part is uniform, so one PRF call is all that RFC 5869's expand step would do. */
  #withCaller(secret: string): KeyObject {
    return createSecretKey(createHmac('sha256', this.#answerKey).update(secret).digest())
  }

  #seal(key: KeyObject, plaintext: Buffer, context: Buffer): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
    cipher.setAAD(context)
    const ciphertext = cipher.update(plaintext)
    return Buffer.concat([version, this.#keyId, nonce, ciphertext, cipher.final(), cipher.getAuthTag()])
  }

  #open(key: KeyObject, sealed: Buffer, context: Buffer): Buffer {
    if (sealed.length < 33 || sealed[0] !== 1) throw new Error('a sealed value is malformed')
    if (!sealed.subarray(1, 5).equals(this.#keyId)) throw new Error('a value is sealed under another master key')
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17), { authTagLength: 16 })
    decipher.setAAD(context)
    decipher.setAuthTag(sealed.subarray(-16))
    return Buffer.concat([decipher.update(sealed.subarray(17, -16)), decipher.final()])
  }
}

const version = Buffer.from([1])
const noContext = Buffer.alloc(0)

function derive(masterKey: Buffer, info: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, 32)))
}

/** JSON of the parts: no two places share the bytes. */
function placeBytes({ tenant, table, column, row }: Place): Buffer {
  return Buffer.from(JSON.stringify([tenant, table, column, row]))
}
