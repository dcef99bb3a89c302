import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { randomBytes } from '#crypto/random.ts'

const nonceBytes = 12
const tagBytes = 16
const cursorBytes = nonceBytes + 8 + tagBytes

/**
 * The cursors of one stream. A cursor is the tenant's sequence, sealed with AES-256-GCM under a key of this stream
 * alone: whoever reads a public stream learns neither how much else happens nor whether anything did, and the cursor
 * of another stream does not open.
 */
export class StreamCursor {
  readonly #keys: Buffer[]

  /** The first master key seals. */
  constructor(masterKeys: readonly Buffer[], stream: string) {
    this.#keys = masterKeys.map((masterKey) => {
      const key = Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), 'atrium/streams/cursor/v1', 32))
      return createHmac('sha256', key).update(stream).digest()
    })
  }

  seal(sequence: number): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#keys[0]!, nonce)
    const position = Buffer.alloc(8)
    position.writeBigUInt64BE(BigInt(sequence))
    return Buffer.concat([nonce, cipher.update(position), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  /** The sequence; undefined: the cursor is not one of this stream. */
  open(cursor: string): number | undefined {
    const sealed = Buffer.from(cursor, 'base64url')
    // Compared as text: the decoder accepts more than one form of the same bytes.
    if (sealed.length !== cursorBytes || sealed.toString('base64url') !== cursor) return undefined
    for (const key of this.#keys) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      try {
        const position = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
        return Number(position.readBigUInt64BE())
      } catch {
        // Sealed under another master key, or not by this server.
      }
    }
    return undefined
  }
}
