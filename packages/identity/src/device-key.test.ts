import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { parseDeviceKey } from './device-key.ts'
import { createTestDevice } from './testing/provider.ts'
import { strayLowBits } from './testing/stray-low-bits.ts'

const { spk } = await createTestDevice()
const { x = '', y = '' } = spk
const good = { kty: 'EC', crv: 'P-256', x, y }

/** A point with x = 5, whose coordinate plus the field's prime still fits 32 bytes. */
const PRIME = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const small = { kty: 'EC', crv: 'P-256', x: coordinate(5n), y: coordinate(yOf(5n)) }

test('the thumbprint is what jose computes, for 20 keys', async () => {
  for (let i = 0; i < 20; i += 1) {
    const device = await createTestDevice()
    assert.equal(parseDeviceKey(device.spk)?.thumbprint, await calculateJwkThumbprint(device.spk))
  }
})

test('object, JSON text and a browser export with its extra members are one key', async () => {
  const plain = parseDeviceKey(good)
  assert.equal(parseDeviceKey(JSON.stringify(good))?.thumbprint, plain?.thumbprint)
  assert.equal(parseDeviceKey({ key_ops: ['verify'], ext: true, kid: 'me', ...good })?.thumbprint, plain?.thumbprint)
  assert.deepEqual(parseDeviceKey({ ...good, ext: true })?.jwk, good)
})

test('a key is imported once while it is in use, and a limited number is kept', () => {
  const first = parseDeviceKey(good)
  assert.equal(parseDeviceKey(JSON.stringify(good)), first)
  assert.equal(parseDeviceKey({ ...good, d: x }), undefined, 'what is refused stays refused')
  for (let i = 0; i < 1_000; i++)
    parseDeviceKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }))
  assert.notEqual(parseDeviceKey(good), first)
  assert.deepEqual(parseDeviceKey(good)?.thumbprint, first?.thumbprint)
})

test('leading zeros are part of a coordinate', () => {
  assert.deepEqual(parseDeviceKey(small)?.jwk, small)
})

const { privateKey: rsa } = await generateKeyPair('RS256', { extractable: true })
const { privateKey: p384 } = await generateKeyPair('ES384', { extractable: true })
const k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' })
const { kty: _kty, ...withoutType } = good
const { y: _y, ...withoutY } = good

const refused: readonly [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['an array', [good]],
  ['text that is no JSON', 'spk'],
  ['text with a repeated member', JSON.stringify(good).replace('{', `{"x":"${y}",`)],
  ['overlong text', JSON.stringify({ ...good, pad: 'p'.repeat(3000) })],
  ['a private key', { ...good, d: x }],
  ['a private key with an empty d', { ...good, d: undefined }],
  ['no kty', withoutType],
  ['another kty', { ...good, kty: 'OKP' }],
  ['an RSA key', await exportJWK(rsa)],
  ['P-384', await exportJWK(p384)],
  ['P-384 coordinates called P-256', { ...(await exportJWK(p384)), d: undefined, crv: 'P-256' }],
  ['secp256k1', k1],
  ['a point of P-256 called secp256k1', { ...good, crv: 'secp256k1' }],
  ['no y', withoutY],
  ['a number as y', { ...good, y: 5 }],
  ['a point off the curve', { ...good, y: coordinate(5n) }],
  ['x and y swapped', { ...good, x: y, y: x }],
  ['the point at infinity', { ...good, x: coordinate(0n), y: coordinate(0n) }],
  ['a coordinate outside the field', { ...small, x: coordinate(5n + PRIME) }],
  ['a coordinate without its leading zeros', { ...small, x: Buffer.from([5]).toString('base64url') }],
  ['a padded coordinate', { ...good, x: `${x}=` }],
  ['a coordinate with white space', { ...good, x: `${x}\n` }],
  ['stray low bits in a coordinate', { ...good, x: strayLowBits(x) }],
  ['base64 in place of base64url', { ...small, y: Buffer.alloc(32, 0xff).toString('base64').slice(0, 43) }],
]

for (const [name, value] of refused) {
  test(`refuses ${name}`, () => assert.equal(parseDeviceKey(value), undefined))
}

function coordinate(value: bigint): string {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toString('base64url')
}

function yOf(x: bigint): bigint {
  const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
  const square = (x ** 3n - 3n * x + b) % PRIME
  const root = power(square, (PRIME + 1n) / 4n)
  assert.equal((root * root) % PRIME, square, 'x = 5 is on the curve')
  return root
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let factor = base, rest = exponent; rest > 0n; rest >>= 1n, factor = (factor * factor) % PRIME) {
    if (rest & 1n) result = (result * factor) % PRIME
  }
  return result
}
