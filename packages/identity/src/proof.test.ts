import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign, type CompactJWSHeaderParameters, type CryptoKey } from 'jose'
import { parseDeviceKey } from './device-key.ts'
import { isProof } from './proof.ts'
import { createTestDevice, createTestProvider } from './testing/provider.ts'

const nowMs = Date.UTC(2026, 10, 20, 12)
const now = nowMs / 1000
const sha256 = createHash('sha256').update('{"text":"hello"}').digest('hex')
const device = await createTestDevice()
const stranger = await createTestDevice()
const { privateKey: rsaKey } = await createTestProvider()
const publicKey = parseDeviceKey(device.spk)?.publicKey ?? assert.fail()
const expected = { publicKey, op: 'turn', room: 'r1', sha256, nowMs }

function make(claims: object, header: Partial<CompactJWSHeaderParameters> = {}, key: CryptoKey = device.privateKey) {
  const payload = JSON.stringify({ op: 'turn', room: 'r1', iat: now, sha256, ...claims })
  const sign = new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader({ alg: 'ES256', ...header })
  return sign.sign(key)
}

for (const iat of [now, now + 60, now - 360]) {
  test(`the device's proof holds when made ${now - iat} s ago`, async () => {
    assert.equal(isProof(await make({ iat }), expected), true)
  })
}

const good = await make({})

/** A valid ES256 signature of the device under a header with another algorithm. */
async function signedAs(alg: string): Promise<string> {
  const header = Buffer.from(JSON.stringify({ alg })).toString('base64url')
  const text = `${header}.${good.split('.')[1]}`
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = await crypto.subtle.sign(algorithm, device.privateKey, Buffer.from(text))
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}

test('signedAs makes proofs that hold, but for their header', async () => {
  assert.equal(isProof(await signedAs('ES256'), expected), true)
})

const refused: readonly [string, unknown][] = [
  ['nothing', undefined],
  ['an empty text', ''],
  ['no text', { proof: good }],
  ["another device's", await make({}, {}, stranger.privateKey)],
  ["another device's, its key in the header", await make({}, { jwk: stranger.spk }, stranger.privateKey)],
  ['an RS256 one', await make({}, { alg: 'RS256' }, rsaKey)],
  ['under another alg', await signedAs('ES384')],
  ['under alg none', await signedAs('none')],
  ['of another operation', await make({ op: 'poll' })],
  ['of another room', await make({ room: 'r2' })],
  ['of another message', await make({ sha256: sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) })],
  ['of no message', await make({ sha256: undefined })],
  ['too old', await make({ iat: now - 361 })],
  ['from the future', await make({ iat: now + 61 })],
  ['without a time', await make({ iat: undefined })],
  ['with a time in text', await make({ iat: String(now) })],
  ['with crit', await make({}, { crit: ['b64'], b64: true })],
  ['overlong', await make({ pad: 'p'.repeat(4096) })],
  ['with a changed signature', good.slice(0, -2) + (good.endsWith('AA') ? 'QA' : 'AA')],
  ['without signature', good.slice(0, good.lastIndexOf('.') + 1)],
  ['padded', `${good}==`],
]

for (const [name, proof] of refused) {
  test(`refuses a proof ${name}`, () => assert.equal(isProof(proof, expected), false))
}
