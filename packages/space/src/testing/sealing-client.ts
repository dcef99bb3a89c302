import { createHash, generateKeyPairSync, hkdfSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { SIGNATURE_TYPE, signaturePayload, signedContent } from '@atrium/sealing/signed-request'
import { FlattenedEncrypt, flattenedDecrypt, type FlattenedJWE } from 'jose'
import type { Got, TestSpace } from './test-space.ts'

export const audience = 'https://rooms.example'

/** What a test changes in a signature. */
export interface Forged {
  room?: string
  op?: string
  key?: KeyObject
  nowMs?: number
  audience?: string
  header?: object
  claims?: object
  /** Changes the request after it was signed. */
  after?: object
}

/** A client of a room whose lines it seals. It seals with jose, which the service does not use. */
export class SealingClient {
  readonly room = `c${randomBytes(8).toString('hex')}`
  readonly mk = randomBytes(32).toString('base64url')
  readonly signingKey = generateKeyPairSync('ed25519').privateKey
  readonly access = String(this.signingKey.export({ format: 'jwk' }).x)
  readonly #key = new Uint8Array(hkdfSync('sha256', this.mk, this.room, 'test', 32))
  readonly #space: TestSpace

  constructor(space: TestSpace) {
    this.#space = space
  }

  /** One JWE in the only accepted spelling. */
  async seal(text: string): Promise<string> {
    const sealing = new FlattenedEncrypt(new TextEncoder().encode(text))
    sealing.setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', room: this.room })
    const { protected: header, encrypted_key, iv, ciphertext, tag } = await sealing.encrypt(this.#key)
    return JSON.stringify({ protected: header, encrypted_key, iv, ciphertext, tag })
  }

  async open(line: string): Promise<string> {
    return new TextDecoder().decode((await flattenedDecrypt(JSON.parse(line) as FlattenedJWE, this.#key)).plaintext)
  }

  call(op: string, fields: object, forged: Forged = {}): Promise<Got> {
    const request = { op, room: this.room, ...fields, signature: '' }
    const sha256 = createHash('sha256').update(signedContent(request)).digest('base64url')
    const claims = JSON.parse(signaturePayload({ op, room: this.room, ...forged }, { audience, sha256, ...forged })) as object
    const signedText = [
      { alg: 'EdDSA', typ: SIGNATURE_TYPE, ...forged.header },
      { ...claims, ...forged.claims },
    ]
      .map(encode)
      .join('.')
    const signature = sign(null, Buffer.from(signedText), forged.key ?? this.signingKey).toString('base64url')
    return this.#space.call(op, { ...request, signature: `${signedText}.${signature}`, ...forged.after })
  }

  async make(forged?: Forged): Promise<Got> {
    return this.call('make', { access: this.access, line: await this.seal('policy') }, forged)
  }

  async append(text: string, { dedupe = newDedupe(), ...forged }: Forged & { dedupe?: string } = {}): Promise<Got> {
    return this.call('append', { line: await this.seal(text), dedupe }, forged)
  }

  read(fields: object = {}, forged?: Forged): Promise<Got> {
    return this.call('read', fields, forged)
  }

  /** All texts, if the lines are a chain that ends with the etag of the answer. */
  async texts({ body }: Got): Promise<string[]> {
    let prev: string | undefined
    for (const [seq, line] of (body.lines as string[]).entries()) {
      const { unprotected } = JSON.parse(line) as { unprotected: object }
      if (JSON.stringify(unprotected) !== JSON.stringify(prev === undefined ? { seq } : { seq, prev }))
        throw new Error(`line ${seq}`)
      prev = createHash('sha256').update(line).digest('base64url')
    }
    if (prev !== body.etag) throw new Error('the end')
    return Promise.all(body.lines.map((line: string) => this.open(line)))
  }
}

export function newDedupe(): string {
  return randomBytes(16).toString('base64url')
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
