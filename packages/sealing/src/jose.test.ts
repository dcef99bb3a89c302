import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GeneralEncrypt, type GeneralJWE, generalDecrypt } from 'jose'
import { checkChain, lineHash, openLine } from './node-lines.ts'
import { deriveRoomKey } from './room-key.ts'
import { sealAll, secret } from './testing/room.ts'
import { sealLine as sealOnWeb } from './web-lines.ts'
import { deriveRoomKey as deriveWebRoomKey } from './web-room-key.ts'

const key = deriveRoomKey(secret)
const raw = new Uint8Array(key.export())
const payloads = fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { minLength: 1, maxLength: 6 })

test('jose opens every line by itself', async () => {
  await fc.assert(
    fc.asyncProperty(payloads, async (payloads) => {
      for (const [seq, line] of sealAll(key, payloads).entries()) {
        const { plaintext, protectedHeader, unprotectedHeader } = await generalDecrypt(JSON.parse(line) as GeneralJWE, raw)
        assert.equal(Buffer.from(plaintext).toString(), payloads[seq])
        assert.deepEqual([protectedHeader?.enc, protectedHeader?.seq], ['A256GCM', seq])
        assert.deepEqual(unprotectedHeader, { alg: 'A256KW', kid: 'room' })
      }
    }),
    { numRuns: 50 },
  )
})

test('jose opens a line that was sealed with Web Crypto', async () => {
  const line = await sealOnWeb({ key: await deriveWebRoomKey(secret), seq: 0, payload: 'from the browser' })
  const { plaintext } = await generalDecrypt(JSON.parse(line) as GeneralJWE, raw)
  assert.equal(Buffer.from(plaintext).toString(), 'from the browser')
})

async function sealWithJose(seq: number, prev: string | undefined, payload: string): Promise<string> {
  const jwe = await new GeneralEncrypt(Buffer.from(payload))
    .setProtectedHeader({ enc: 'A256GCM', seq, ...(prev && { prev }) })
    .addRecipient(raw)
    .setUnprotectedHeader({ alg: 'A256KW', kid: 'room' })
    .encrypt()
  const { protected: header, recipients, iv, ciphertext, tag } = jwe
  const [{ header: recipientHeader, encrypted_key } = {}] = recipients
  return JSON.stringify({ protected: header, recipients: [{ header: recipientHeader, encrypted_key }], iv, ciphertext, tag })
}

test('lines that jose sealed, their members put in order, open and chain', async () => {
  await fc.assert(
    fc.asyncProperty(payloads, async (payloads) => {
      const lines: string[] = []
      let prev: string | undefined
      for (const [seq, payload] of payloads.entries()) {
        const line = await sealWithJose(seq, prev, payload)
        assert.deepEqual(openLine({ key, line }), { seq, ...(prev && { prev }), payload: Buffer.from(payload) })
        lines.push(line)
        prev = lineHash(line)
      }
      assert.equal(checkChain(lines, { fromSeq: 0, etag: prev }), undefined)
    }),
    { numRuns: 50 },
  )
})
