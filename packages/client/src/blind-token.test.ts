import assert from 'node:assert/strict'
import { constants, createPrivateKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { blindSign } from './blind-sign.ts'
import { finishToken, prepareToken } from './blind-token.ts'
import { epochOf, type RsaPublicKey } from './epoch-of.ts'

const bytesOf = (text: string) => Buffer.from(text, 'base64url')
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' }) as unknown as RsaPublicKey
const pairs = [2_048, 3_072, 4_096].map((modulusLength) => generateKeyPairSync('rsa', { modulusLength }))
const [pair, otherPair] = pairs as [(typeof pairs)[number], (typeof pairs)[number]]

/** Verifies the token as plain RSASSA-PSS, without any blinding. */
function isGood(key: KeyObject, { token, sig }: { token: string; sig: string }): boolean {
  const padding = constants.RSA_PKCS1_PSS_PADDING
  return verify('sha384', bytesOf(token), { key, padding, saltLength: 48 }, bytesOf(sig))
}

describe('RFC 9474, appendix A', () => {
  const file = new URL('../../../../shared/vectors/rfc9474.json', import.meta.url)
  const vectors = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>[]) : undefined

  test(
    'from the same random numbers comes the same token, blinded message and signature',
    {
      skip: vectors ? false : '../shared/vectors is not there',
    },
    async (t) => {
      const vector = vectors!.find(({ name }) => name === 'RSABSSA-SHA384-PSS-Randomized')!
      const hex = (name: string) => vector[name]!.replace(/^0x/, '')
      const text = (name: string) => Buffer.from(hex(name), 'hex').toString('base64url')
      const n = BigInt(`0x${hex('n')}`)
      const blinding = invert(BigInt(`0x${hex('inv')}`), n)
      const length = hex('n').length / 2
      const random = [hex('msg_prefix'), hex('salt'), blinding.toString(16).padStart(length * 2, '0')]
      t.mock.method(crypto, 'getRandomValues', (target: Uint8Array) => {
        const bytes = Buffer.from(random.shift() ?? '', 'hex')
        assert.equal(bytes.length, target.length)
        target.set(bytes)
        return target
      })
      const publicKey = { kty: 'RSA', n: text('n'), e: text('e') } as const
      const prepared = await prepareToken(publicKey, Buffer.from(hex('msg'), 'hex'))
      assert.equal(prepared.token, text('input_msg'))
      assert.equal(prepared.blinded, text('blinded_msg'))
      assert.equal(prepared.inverse, text('inv'))
      const blindSignature = blindSign(privateKeyOf(vector), prepared.blinded)
      assert.equal(blindSignature, text('blind_sig'))
      assert.deepEqual(await finishToken(prepared, blindSignature), {
        token: text('input_msg'),
        sig: text('sig'),
        epoch: await epochOf(publicKey),
      })
    },
  )
})

for (const { publicKey, privateKey } of pairs) {
  test(`a token of ${publicKey.asymmetricKeyDetails?.modulusLength} bits goes from client to issuer and back`, async () => {
    const message = new TextEncoder().encode('one lantern')
    const prepared = await prepareToken(jwkOf(publicKey), message)
    // It may be put away meanwhile, and come from another page.
    const kept = JSON.parse(JSON.stringify(prepared)) as typeof prepared
    const made = await finishToken(kept, blindSign(privateKey, prepared.blinded))
    assert.ok(isGood(publicKey, made))
    assert.deepEqual(bytesOf(made.token).subarray(32), Buffer.from(message))
    assert.equal(made.epoch, await epochOf(jwkOf(publicKey)))
    assert.deepEqual(Object.keys(made).toSorted(), ['epoch', 'sig', 'token'])
  })
}

test('tokens and blindings are unique, and the issuer sees no part of the token', async () => {
  const [a, b] = [await prepareToken(jwkOf(pair.publicKey)), await prepareToken(jwkOf(pair.publicKey))]
  assert.equal(bytesOf(a.token).length, 32)
  for (const part of ['token', 'blinded', 'inverse'] as const) assert.notEqual(a[part], b[part])
  const sigs = [a, b].map(({ blinded }) => blindSign(pair.privateKey, blinded))
  const made = [await finishToken(a, sigs[0]!), await finishToken(b, sigs[1]!)]
  assert.ok(made.every((one, i) => !sigs.includes(one.sig) && isGood(pair.publicKey, one) && one.sig !== made[1 - i]!.sig))
})

test('an invalid signature is rejected, and the right one still makes the token', async () => {
  const prepared = await prepareToken(jwkOf(pair.publicKey))
  const right = blindSign(pair.privateKey, prepared.blinded)
  const another = await prepareToken(jwkOf(pair.publicKey))
  const zero = Buffer.alloc(256).toString('base64url')
  for (const wrong of [blindSign(pair.privateKey, another.blinded), prepared.blinded, zero])
    await assert.rejects(finishToken(prepared, wrong), /does not verify for this token/)
  for (const wrong of ['', right.slice(0, -4), `${right}=`, `${right.slice(0, -1)}*`, Buffer.alloc(384).toString('base64url')])
    await assert.rejects(finishToken(prepared, wrong), TypeError)
  assert.ok(isGood(pair.publicKey, await finishToken(prepared, right)))
})

test('prepareToken accepts only valid keys and messages that the API accepts', async () => {
  const good = jwkOf(pair.publicKey)
  const bytes = Buffer.concat([Buffer.alloc(1), bytesOf(good.n)])
  const weak = jwkOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey)
  const even = Buffer.from(bytes.subarray(1, -1).toString('hex') + '00', 'hex').toString('base64url')
  const moduli = [bytes.toString('base64url'), `${good.n}==`, even, ''].map((n) => ({ ...good, n }))
  const exponents = ['AAEAAQ', 'AQ', 'BA', 'Ax', ''].map((e) => ({ ...good, e }))
  for (const key of [weak, ...moduli, ...exponents]) await assert.rejects(prepareToken(key), TypeError)
  await assert.rejects(prepareToken(good, new Uint8Array(1_019)), TypeError)
  assert.equal((await prepareToken(good, new Uint8Array(1_018))).token.length, 1_400)
})

test('the id of an epoch is the thumbprint of RFC 7638', async () => {
  const { n, e } = jwkOf(pair.publicKey)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`{"e":"${e}","kty":"RSA","n":"${n}"}`))
  const privateJwk = pair.privateKey.export({ format: 'jwk' }) as unknown as RsaPublicKey
  assert.equal(await epochOf(privateJwk), Buffer.from(digest).toString('base64url'))
})

describe('the issuer', () => {
  test('signs only with an RSA key of at least 2,048 bits', async () => {
    const { blinded } = await prepareToken(jwkOf(pair.publicKey))
    const keys = [
      pair.publicKey,
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
      generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).privateKey,
      generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey,
    ]
    for (const key of keys) assert.throws(() => blindSign(key, blinded), TypeError)
  })

  test('signs only a canonical number below the modulus and as long as it', async () => {
    const { blinded } = await prepareToken(jwkOf(pair.publicKey))
    const n = jwkOf(pair.publicKey).n
    const longer = (await prepareToken(jwkOf(otherPair.publicKey))).blinded
    for (const bad of ['', blinded.slice(4), `${blinded}=`, `A${blinded.slice(1, -1)}*`, longer, n, '_'.repeat(341) + 'w'])
      assert.throws(() => blindSign(pair.privateKey, bad), TypeError)
    assert.equal(blindSign(pair.privateKey, blinded).length, blinded.length)
  })
})

/** The primes of a vector as a key. */
function privateKeyOf(vector: Record<string, string>): KeyObject {
  const [p, q, d, n, e] = ['p', 'q', 'd', 'n', 'e'].map((name) => BigInt(vector[name]!)) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const members = { n, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: invert(q, p) }
  const text = (number: bigint) => {
    const hex = number.toString(16)
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
  }
  const jwk = Object.fromEntries(Object.entries(members).map(([name, number]) => [name, text(number)]))
  return createPrivateKey({ key: { kty: 'RSA', ...jwk }, format: 'jwk' })
}

function invert(number: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [number % modulus, modulus, 1n, 0n]
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y]
  assert.equal(a, 1n)
  return ((x % modulus) + modulus) % modulus
}
