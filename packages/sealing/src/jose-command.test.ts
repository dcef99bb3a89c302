import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { skipWithout } from '../../../tests/support/skip-without.ts'
import { openLine } from './node-lines.ts'
import { deriveRoomKey } from './room-key.ts'
import { sealAll, secret } from './testing/room.ts'

// Debian's jose (C, latchset): an implementation that shares nothing with ours but OpenSSL.
const command = 'jose'
const skip = skipWithout(command)

const folder = mkdtempSync(path.join(tmpdir(), 'atrium-sealing-'))
after(() => rmSync(folder, { recursive: true }))

const key = deriveRoomKey(secret)
const jwk = path.join(folder, 'room.jwk')
writeFileSync(jwk, JSON.stringify({ ...key.export({ format: 'jwk' }), alg: 'A256KW' }))

const payloads = ['{"t":"policy"}', 'The lamps are lit. ☀️', 'x'.repeat(20_000)]

test('the command line opens every line by itself', { skip }, () => {
  for (const [seq, line] of sealAll(key, payloads).entries()) {
    const opened = execFileSync(command, ['jwe', 'dec', '-i', '-', '-k', jwk], { input: line })
    assert.equal(opened.toString(), payloads[seq])
  }
})

test('the command line rejects a line whose header has another place', { skip }, () => {
  const [line] = sealAll(key, payloads) as [string]
  const moved = { ...(JSON.parse(line) as object), protected: Buffer.from('{"enc":"A256GCM","seq":1}').toString('base64url') }
  const options = { input: JSON.stringify(moved), stdio: ['pipe', 'pipe', 'ignore'] as ['pipe', 'pipe', 'ignore'] }
  assert.throws(() => execFileSync(command, ['jwe', 'dec', '-i', '-', '-k', jwk], options))
})

// Line 0 only: the command sorts the header's members, and of the orders that a later line's could have, ours is
// another.
test('a line that the command line sealed, its members put in order, opens', { skip }, () => {
  const content = path.join(folder, 'content')
  const template = JSON.stringify({ protected: { enc: 'A256GCM', seq: 0 } })
  const recipient = JSON.stringify({ header: { alg: 'A256KW', kid: 'room' } })
  for (const payload of payloads) {
    writeFileSync(content, payload)
    const made = execFileSync(command, ['jwe', 'enc', '-i', template, '-I', content, '-k', jwk, '-r', recipient])
    const jwe = JSON.parse(made.toString()) as Record<string, unknown>
    const { protected: header, encrypted_key, iv, ciphertext, tag } = jwe
    const line = JSON.stringify({ protected: header, recipients: [{ header: jwe.header, encrypted_key }], iv, ciphertext, tag })
    assert.deepEqual(openLine({ key, line }), { seq: 0, payload: Buffer.from(payload) })
  }
})
