import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { generalDecrypt, type GeneralJWE } from 'jose'
import { derivePolicyKey } from './client-sealed.ts'
import { DamagedLine } from './damaged-line.ts'
import { openPolicyLine, parsePolicyLine, sealPolicyLine } from './policy-line.ts'
import { placeLine } from './signed-request.ts'
import { openDeviceRecipient, openKeyRecipient } from './web-recipient.ts'

const secret = { room: 'lantern', mk: 'b0hPz2S0cPq1f3m8Wq4e5r6t7y8u9i0oAbCdEfGhIjk' }
const policyKey = await derivePolicyKey(secret)
const rawKey = new Uint8Array(hkdfSync('sha256', secret.mk, secret.room, 'atrium/client-sealed/policy/v1', 32))
const newPair = () => crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
const [one, two] = await Promise.all([newPair(), newPair()])

async function keyOf({ publicKey }: typeof one) {
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  return { kty: 'EC', crv: 'P-256', x, y } as const
}

const content = JSON.stringify({ mk: 'Grüße 🌍' })
const devices = [
  { kid: '0'.repeat(43), key: await keyOf(one) },
  { kid: 'A'.repeat(43), key: await keyOf(two) },
]
const sealed = await sealPolicyLine({ policy: 'a.b.c', content, policyKey, devices })
const line = placeLine(sealed, { seq: 1, prev: 'A'.repeat(43) })

test('jose opens a line with a list with the key of each device and with that of the room', async () => {
  for (const pair of [one, two]) {
    const jwe = JSON.parse(line) as GeneralJWE
    const { plaintext } = await generalDecrypt(jwe, await crypto.subtle.exportKey('jwk', pair.privateKey))
    assert.deepEqual(JSON.parse(new TextDecoder().decode(plaintext)), JSON.parse(content))
  }
  const { plaintext } = await generalDecrypt(JSON.parse(line) as GeneralJWE, rawKey)
  assert.equal(new TextDecoder().decode(plaintext).trimEnd(), content)
})

test('each recipient opens what was sealed, and no other key does', async () => {
  const stored = parsePolicyLine(line)!
  const [first, second, room] = stored.recipients
  assert.equal(await openPolicyLine(await openDeviceRecipient(one.privateKey, first!), stored), content)
  assert.equal(await openPolicyLine(await openDeviceRecipient(two.privateKey, second!), stored), content)
  assert.equal(await openPolicyLine(await openKeyRecipient(policyKey, room!), stored), content)
  assert.equal(await openDeviceRecipient(one.privateKey, second!), undefined)
  assert.equal(await openDeviceRecipient((await newPair()).privateKey, first!), undefined)
  assert.equal(await openKeyRecipient(await derivePolicyKey({ ...secret, room: 'harbour' }), room!), undefined)
  const noPoint = { ...first!, header: { ...first!.header, epk: { ...first!.header.epk!, x: 'A'.repeat(43) } } }
  assert.equal(await openDeviceRecipient(one.privateKey, noPoint), undefined)
})

test('bytes that are not UTF-8 are not opened as an empty text', async () => {
  const contentKey = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt'])
  const open = async (bytes: number[]) => {
    const stored = parsePolicyLine(line)!
    const additionalData = Buffer.from(stored.header)
    const algorithm = { name: 'AES-GCM', iv: Buffer.from(stored.iv, 'base64url'), additionalData }
    const made = Buffer.from(await crypto.subtle.encrypt(algorithm, contentKey, new Uint8Array(bytes)))
    const [ciphertext, tag] = [made.subarray(0, -16), made.subarray(-16)].map((part) => part.toString('base64url'))
    return openPolicyLine(contentKey, { ...stored, ciphertext: ciphertext!, tag: tag! })
  }
  assert.equal(await open([0x7b, 0x7d, 0x20]), '{}')
  assert.equal(await open([0x20, 0x20]), '')
  await assert.rejects(open([0xff, 0x20]), DamagedLine)
})

test('a line with a list has one spelling', () => {
  assert.equal(parsePolicyLine('{}'), undefined)
  assert.equal(parsePolicyLine(line.replace(/"recipients":.*\],/, '')), undefined)
  for (const other of [
    line.replace('"kid":"0', '"kid": "0'),
    line.replace('"kid":', '"x":1,"kid":'),
    line.replace(/"kid":"0+"/, '"kid":1.0'),
    line.replace(/"kid":"0+"/, '"kid":"room"'),
    line.replace('"kid":"room"', '"kid":"rooms"'),
    line.replace('"crv":"P-256"', '"crv":"P-384"'),
    line.replace(/"kid":"0+"/, `"kid":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`),
    line.replace('"alg":"A256KW"', '"alg":"ECDH-ES+A256KW"'),
    line.replace('"recipients":[', '"recipients":[,'),
    line.replace('"seq":1', '"seq":0'),
    line.replace(/"protected":"[^"]*"/, `"protected":"${Buffer.from('{"enc":"A256GCM","policy":"x"}').toString('base64url')}"`),
  ])
    assert.throws(() => parsePolicyLine(other), DamagedLine, other)
})

test('the policy key is that of the page', () => {
  const page = readFileSync(new URL('../../../docs/space/client-sealed.md', import.meta.url), 'utf8')
  assert.ok(page.includes(`\`${Buffer.from(rawKey).toString('base64url')}\``))
})
