import assert from 'node:assert/strict'
import { createPublicKey, hash, hkdfSync, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { flattenedDecrypt, type FlattenedJWE } from 'jose'
import { deriveClientKeys, openStoredLine, paddedLength, parseStoredLine, sealClientLine, signRequest } from './client-sealed.ts'
import { DamagedLine } from './damaged-line.ts'
import { placeLine } from './signed-request.ts'
import { lineHash } from './web-lines.ts'

const secret = { room: 'lantern', mk: 'b0hPz2S0cPq1f3m8Wq4e5r6t7y8u9i0oAbCdEfGhIjk' }
const keys = await deriveClientKeys(secret)
const seen = { seq: 0, hash: 'A'.repeat(43) }

test('keys are those that Node derives, and the access key is the public part of the signing key', async () => {
  const seed = Buffer.from(hkdfSync('sha256', secret.mk, secret.room, 'atrium/client-sealed/access/v1', 32))
  const head = Buffer.from('302e020100300506032b657004220420', 'hex')
  const { createPrivateKey } = await import('node:crypto')
  const key = createPublicKey(createPrivateKey({ key: Buffer.concat([head, seed]), format: 'der', type: 'pkcs8' }))
  assert.equal(keys.access, key.export({ format: 'jwk' }).x)
  assert.equal(keys.access, 'ytVx4Y71GJI01ffona0DFVWx_49Tng6loPrBdRWLxKY')
  await assert.rejects(deriveClientKeys({ ...secret, room: 'a b' }), TypeError)
})

test('jose opens a stored line with the key that HKDF gives', async () => {
  const line = placeLine(await sealClientLine(keys, { seen, content: '{"text":"Grüße 🌍"}' }), { seq: 1, prev: seen.hash })
  const key = new Uint8Array(hkdfSync('sha256', secret.mk, secret.room, 'atrium/client-sealed/line/v1', 32))
  const opened = await flattenedDecrypt(JSON.parse(line) as FlattenedJWE, key)
  assert.deepEqual(JSON.parse(new TextDecoder().decode(opened.plaintext)), { text: 'Grüße 🌍' })
  assert.equal(opened.plaintext.length, 256)
  assert.deepEqual(opened.protectedHeader, { alg: 'dir', enc: 'A256GCM', room: 'lantern', generation: 0, seen })
  assert.deepEqual(opened.unprotectedHeader ?? JSON.parse(line).unprotected, { seq: 1, prev: seen.hash })
})

test('the signature is by the access key over service, op, room, second and content', async () => {
  const request = { op: 'append', room: 'lantern', line: 'x', dedupe: 'y' }
  const jws = await signRequest(keys, request, { audience: 'https://rooms.example', nowMs: 1_790_000_000_999 })
  const [header = '', payload = '', signature = ''] = jws.split('.')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: keys.access }, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
  assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64url').toString()), {
    aud: 'https://rooms.example',
    htm: 'POST',
    op: 'append',
    room: 'lantern',
    iat: 1_790_000_000,
    sha256: hash('sha256', '{"dedupe":"y","line":"x"}', 'base64url'),
  })
})

test('what is sealed opens to the same, and only under its key, in its room and with every bit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.nat(1e9), async (text, seq) => {
      const content = JSON.stringify(text.toWellFormed())
      const stored = parseStoredLine(placeLine(await sealClientLine(keys, { seen: { ...seen, seq }, content }), { seq: 0 }))
      assert.deepEqual(await openStoredLine(keys, stored), { seen: { ...seen, seq }, content })
    }),
    { numRuns: 50 },
  )
  const line = placeLine(await sealClientLine(keys, { content: '{}' }), { seq: 0 })
  const other = await deriveClientKeys({ ...secret, mk: secret.mk.replace('b', 'c') })
  await assert.rejects(openStoredLine(other, parseStoredLine(line)), DamagedLine)
  await assert.rejects(openStoredLine({ ...keys, room: 'other' }, parseStoredLine(line)), DamagedLine)
  for (const part of ['protected', 'iv', 'ciphertext', 'tag']) {
    const at = line.indexOf(`"${part}":"`) + part.length + 6
    const changed = line.slice(0, at) + (line[at] === 'A' ? 'B' : 'A') + line.slice(at + 1)
    await assert.rejects(async () => openStoredLine(keys, parseStoredLine(changed)), DamagedLine, part)
  }
})

test('a line has one spelling', async () => {
  const line = placeLine(await sealClientLine(keys, { content: '{}' }), { seq: 0 })
  for (const other of [
    ` ${line}`,
    line.replace(',', ', '),
    line.replace('"seq":0', '"seq":00'),
    line.replace('}', ',"prev":"x"}'),
    '{}',
  ])
    assert.throws(() => parseStoredLine(other), DamagedLine, other)
})

test('a line whose author says to have read what cannot be a line is not opened', async () => {
  for (const other of [{ seq: -1 }, { seq: 0.5 }, { seq: '0' }, { hash: 'short' }, { hash: undefined }, { more: true }]) {
    const sealed = await sealClientLine(keys, { seen: { ...seen, ...other } as typeof seen, content: '{}' })
    const stored = parseStoredLine(placeLine(sealed, { seq: 0 }))
    await assert.rejects(openStoredLine(keys, stored), DamagedLine, JSON.stringify(other))
  }
})

test('lengths are padded as Padmé says, and to at least 256 bytes', () => {
  // From the paper: https://lbarman.ch/blog/padme/
  for (const [bytes, padded] of [
    [1, 256],
    [256, 256],
    [257, 272],
    [1_000, 1_024],
    [1_025, 1_088],
    [9_000, 9_216],
    [65_000, 65_536],
  ] as const)
    assert.equal(paddedLength(bytes), padded, `${bytes}`)
  fc.assert(
    fc.property(fc.integer({ min: 257, max: 1e6 }), (bytes) => {
      const padded = paddedLength(bytes)
      return padded >= bytes && padded <= bytes * 1.12 && paddedLength(padded) === padded
    }),
  )
})

test('the vector of the page opens, and has the hash that the page says', async () => {
  const page = readFileSync(new URL('../../../docs/space/client-sealed.md', import.meta.url), 'utf8')
  const line = /^ {4}(\{"protected":"[^…]+\})$/m.exec(page)?.[1] ?? ''
  assert.ok(page.includes(`\`${await lineHash(line)}\``) && page.includes(`\`${keys.access}\``))
  assert.deepEqual(await openStoredLine(keys, parseStoredLine(line)), {
    seen: undefined,
    content: '{"t":"policy","policy":"open"}',
  })
})
