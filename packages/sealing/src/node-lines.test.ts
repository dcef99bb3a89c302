import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { DamagedLine } from './damaged-line.ts'
import { parseLine } from './line.ts'
import { checkChain, lineHash, openLine, sealLine } from './node-lines.ts'
import { deriveRoomKey } from './room-key.ts'
import { sealAll, secret } from './testing/room.ts'
import { WrongKey } from './wrong-key.ts'

const key = deriveRoomKey(secret)

test('what was sealed is what opens: bytes and text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), fc.string({ unit: 'binary' }), fc.nat(), (bytes, text, n) => {
      const position = n === 0 ? { seq: 0 } : { seq: n, prev: lineHash('x') }
      const opened = openLine({ key, line: sealLine({ key, ...position, payload: bytes }) })
      assert.deepEqual({ ...opened, payload: Uint8Array.from(opened.payload) }, { ...position, payload: Uint8Array.from(bytes) })
      assert.equal(openLine({ key, line: sealLine({ key, ...position, payload: text }) }).payload.toString(), text)
    }),
    { numRuns: 300 },
  )
})

test('a line from before still opens', () => {
  const line =
    '{"protected":"eyJlbmMiOiJBMjU2R0NNIiwic2VxIjowfQ","recipients":[{"header":{"alg":"A256KW","kid":"room"},"encrypted_key":"jBewvUHKQCrJfGqEOibhaOjWG-4NOCqJOnoY5XHl_0LVeE3jEeQeaQ"}],"iv":"hZi5pi3drg3QXHde","ciphertext":"VddUR9GR-xsyIy9MXHrMHwRv","tag":"YfY8ywRp8SgQK7Yrqc0-qQ"}'
  assert.equal(openLine({ key, line }).payload.toString(), 'The lamps are lit.')
})

test('the same payload is never sealed the same way twice', () => {
  const lines = Array.from({ length: 1000 }, () => parseLine(sealLine({ key, seq: 0, payload: 'same' })))
  for (const part of ['encryptedKey', 'iv', 'ciphertext', 'tag'] as const) {
    assert.equal(new Set(lines.map((line) => line[part])).size, 1000, part)
  }
})

test('under any other room key a line is WrongKey', () => {
  const line = sealLine({ key, seq: 0, payload: 'x' })
  for (const other of [
    { ...secret, room: 'Lantern-night' },
    { ...secret, mk: `${secret.mk.slice(0, -1)}B` },
  ]) {
    assert.throws(() => openLine({ key: deriveRoomKey(other), line }), WrongKey)
  }
})

test('every single bit of a line is guarded', () => {
  const [first, second] = sealAll(key, ['{"t":"policy"}', '{"t":"turn"}']) as [string, string]
  const bytes = Buffer.from(second)
  const errors = { WrongKey: 0, DamagedLine: 0 }
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1 << bit
      for (const line of [flipped.toString('utf8'), flipped.toString('latin1')]) {
        try {
          openLine({ key, line })
          assert.fail(`bit ${bit} of byte ${at} passed`)
        } catch (error) {
          if (!(error instanceof WrongKey) && !(error instanceof DamagedLine)) throw error
          errors[error.name] += 1
        }
        assert.notEqual(lineHash(line), lineHash(second))
        assert.ok(checkChain([first, line], { fromSeq: 0, etag: lineHash(second) }))
      }
    }
  }
  assert.ok(errors.WrongKey > 400 && errors.DamagedLine > 4000, JSON.stringify(errors))
})

test('every byte cut out, doubled or put in is noticed', () => {
  const line = sealLine({ key, seq: 0, payload: '{"t":"policy"}' })
  for (let at = 0; at <= line.length; at++) {
    const [before, after] = [line.slice(0, at), line.slice(at)]
    for (const edited of [before, before + after.slice(1), `${before}A${after}`, `${before}=${after}`, `${before} ${after}`]) {
      if (edited !== line) assert.throws(() => openLine({ key, line: edited }), Error, edited)
    }
  }
})

test("parts of two lines of one room make no third, but the whole line's own", () => {
  const lines = sealAll(key, ['one', 'two']).map((line) => parseLine(line))
  const [a, b] = lines as [(typeof lines)[0], (typeof lines)[0]]
  const names = ['header', 'encryptedKey', 'iv', 'ciphertext', 'tag'] as const
  for (const name of names) {
    const mixed = { ...a, [name]: b[name] }
    const line = `{"protected":"${mixed.header}","recipients":[{"header":{"alg":"A256KW","kid":"room"},"encrypted_key":"${mixed.encryptedKey}"}],"iv":"${mixed.iv}","ciphertext":"${mixed.ciphertext}","tag":"${mixed.tag}"}`
    assert.throws(() => openLine({ key, line }), DamagedLine, name)
  }
})

test('the hash is of the UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (line) => {
      assert.equal(lineHash(line), createHash('sha256').update(Buffer.from(line, 'utf8')).digest('base64url'))
    }),
  )
})
