import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { proofContent, type ProvableRequest } from '@atrium/sealing/proof'
import { CompactSign, calculateJwkThumbprint, type JWK } from 'jose'
import { type Forged, newDedupe, SealingClient } from './sealing-client.ts'
import type { Got, TestSpace } from './test-space.ts'

/** A device of a test: its key, and the thumbprint by which lists name it. */
export interface TestDevice {
  readonly privateKey: KeyObject
  readonly spk: JWK
  readonly key: string
}

export async function newDevice(): Promise<TestDevice> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spk = publicKey.export({ format: 'jwk' }) as JWK
  return { privateKey, spk, key: await calculateJwkThumbprint(spk) }
}

export interface TestList {
  access?: string
  owner?: string
  devices?: unknown
  revoked?: string[]
  prev?: string
  room?: string
  hosted?: object[]
}

/** A room with a list. What is sealed in its lines does not matter to the service. */
export class ListedClient extends SealingClient {
  readonly owner: TestDevice

  constructor(space: TestSpace, owner: TestDevice) {
    super(space)
    this.owner = owner
  }

  /** A line with a list that this device signs. */
  async list(list: TestList, by: TestDevice = this.owner, typ = 'atrium-policy+jws'): Promise<string> {
    const claims = {
      room: this.room,
      access: this.access,
      owner: this.owner.key,
      devices: [this.owner.key],
      revoked: [],
      ...list,
    }
    const jws = new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'ES256', typ })
    return this.lineOf({ enc: 'A256GCM', policy: await jws.sign(by.privateKey) })
  }

  lineOf(header: object): string {
    const text = (bytes: number) => randomBytes(bytes).toString('base64url')
    const recipients = [{ header: { alg: 'A256KW', kid: 'room' }, encrypted_key: text(40) }]
    const coded = Buffer.from(JSON.stringify(header)).toString('base64url')
    return JSON.stringify({ protected: coded, recipients, iv: text(12), ciphertext: text(256), tag: text(16) })
  }

  /** A request that this device proves; undefined: none does. `change`: what of the request the proof does not cover. */
  async as(
    device: TestDevice | undefined,
    op: string,
    fields: object,
    forged: Forged & { change?: object; proofIat?: number } = {},
  ): Promise<Got> {
    if (!device) return this.call(op, fields, forged)
    const request = { op, room: this.room, ...fields } as ProvableRequest
    const sha256 = createHash('sha256').update(proofContent(request)).digest('hex')
    const parts = [{ alg: 'ES256' }, { op, room: this.room, iat: forged.proofIat ?? Math.floor(Date.now() / 1_000), sha256 }]
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const key = { key: device.privateKey, dsaEncoding: 'ieee-p1363' } as const
    const proof = `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
    return this.call(op, { ...fields, spk: device.spk, proof, ...forged.change }, forged)
  }

  async appendAs(device: TestDevice | undefined, line: string | undefined, forged?: Forged & { change?: object }): Promise<Got> {
    return this.as(device, 'append', { line: line ?? (await this.seal('x')), dedupe: newDedupe() }, forged)
  }
}
