import assert from 'node:assert/strict'
import { constants, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { findWycheproof } from '@atrium/identity/testing/vectors'
import { ApiError } from '#errors/api-error.ts'
import { findRfc9474 } from '#testing/rfc9474.ts'
import { decodeToken, isPssSignature, readEpochKey, verifyToken } from './blind-token.ts'

const absent = '../shared/vectors is not there'
const bytesOf = (hex: string) => Buffer.from(hex.replace(/^0x/, ''), 'hex')
/** As JWK has it: without leading zero bytes. */
const integerOf = (bytes: Buffer) => bytes.subarray(bytes.findIndex((byte) => byte > 0)).toString('base64url')
const numberOf = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`)
const pss = (hash: string, message: Buffer, key: KeyObject, saltLength: number) =>
  sign(hash, message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })

const pairs = [2_048, 4_096].map((modulusLength) => generateKeyPairSync('rsa', { modulusLength }))
const [pair] = pairs as [(typeof pairs)[number]]
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' }) as { n: string; e: string }

function assertInvalid(run: () => unknown, path: string, message: RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request', String(error))
    assert.equal(error.details?.[0]?.path, path)
    assert.match(error.details[0].message, message)
    return true
  })
}

describe('tokens verify as the standards have it', () => {
  const vectors = findRfc9474()
  test(
    'RFC 9474, appendix A: the two variants with a salt of 48 bytes pass, the two without one do not',
    {
      skip: vectors ? false : absent,
    },
    () => {
      const verdicts = (vectors ?? []).map(({ name, n, e, input_msg: message, sig, sLen }) => {
        const { key } = readEpochKey({ n: integerOf(bytesOf(n)), e: integerOf(bytesOf(e)) })
        const passes = verifyToken(key, bytesOf(message), bytesOf(sig))
        assert.equal(passes, sLen === '0x30', name)
        return passes
      })
      assert.deepEqual(verdicts, [true, false, true, false])
    },
  )

  const file = findWycheproof('rsa_pss_2048_sha384_mgf1_48')
  test('Wycheproof rsa_pss_2048_sha384_mgf1_48', { skip: file ? false : absent }, () => {
    const seen = { valid: 0, invalid: 0, acceptable: 0 }
    for (const { publicKeyPem, tests } of file?.testGroups ?? []) {
      const { key } = readEpochKey(jwkOf(createPublicKey(publicKeyPem ?? '')))
      for (const { tcId, comment, msg, sig, result } of tests) {
        seen[result] += 1
        assert.equal(isPssSignature(key, bytesOf(msg), bytesOf(sig)), result === 'valid', `${tcId} ${comment}`)
      }
    }
    assert.ok(seen.valid > 50 && seen.invalid > 30, JSON.stringify(seen))
  })
})

for (const { publicKey, privateKey } of pairs) {
  const { modulusLength = 0 } = publicKey.asymmetricKeyDetails ?? {}
  const { key } = readEpochKey(jwkOf(publicKey))
  const token = Buffer.concat([randomBytes(32), Buffer.from('one lantern')])
  const sig = pss('sha384', token, privateKey, 48)

  describe(`with a key of ${modulusLength} bits`, () => {
    test('a token passes as it was signed', () => {
      assert.equal(verifyToken(key, token, sig), true)
      const bare = token.subarray(0, 32)
      assert.equal(verifyToken(key, bare, pss('sha384', bare, privateKey, 48)), true)
    })

    test('no bit of the token or of the signature may differ', () => {
      for (const at of [0, 7, 8, 255, 256, token.length * 8 - 1]) {
        assert.equal(verifyToken(key, flip(token, at), sig), false, `bit ${at} of the token`)
      }
      for (const at of [0, 7, 8, 1_000, sig.length * 4, sig.length * 8 - 8, sig.length * 8 - 1]) {
        assert.equal(verifyToken(key, token, flip(sig, at)), false, `bit ${at} of the signature`)
      }
    })

    test('no other salt, hash or padding passes', () => {
      const salts = [0, 1, 32, 47, 49, 64].map((salt) => pss('sha384', token, privateKey, salt))
      const hashes = ['sha256', 'sha512', 'sha3-384'].map((hash) => pss(hash, token, privateKey, 48))
      const pkcs1 = sign('sha384', token, privateKey)
      for (const other of [...salts, ...hashes, pkcs1]) assert.equal(verifyToken(key, token, other), false)
    })

    test('a signature has exactly the length of the modulus, and is below it', () => {
      const n = numberOf(Buffer.from(jwkOf(publicKey).n, 'base64url'))
      const others = [
        Buffer.alloc(0),
        sig.subarray(1),
        sig.subarray(0, -1),
        Buffer.concat([Buffer.alloc(1), sig]),
        Buffer.concat([sig, Buffer.alloc(1)]),
        Buffer.alloc(sig.length),
        Buffer.alloc(sig.length, 0xff),
        // The same number, counted around the modulus.
        Buffer.from((numberOf(sig) + n).toString(16).padStart((sig.length + 1) * 2, '0'), 'hex').subarray(-sig.length),
      ]
      for (const [place, other] of others.entries()) assert.equal(verifyToken(key, token, other), false, `${place}`)
    })

    test('a token holds at least the prefix', () => {
      const short = token.subarray(0, 31)
      assert.equal(verifyToken(key, short, pss('sha384', short, privateKey, 48)), false)
      assert.equal(isPssSignature(key, short, pss('sha384', short, privateKey, 48)), true)
    })

    test('under another key nothing of it passes', () => {
      const other = generateKeyPairSync('rsa', { modulusLength }).publicKey
      assert.equal(verifyToken(readEpochKey(jwkOf(other)).key, token, sig), false)
    })
  })
}

function flip(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[bit >> 3]! ^= 0x80 >> (bit & 7)
  return flipped
}

test('one token has one text: every other spelling of the same bytes is refused', () => {
  // Of 34 bytes the last character holds two bits that mean nothing.
  const bytes = Buffer.concat([Buffer.from([0xfb, 0xff, 0xfe]), Buffer.alloc(31, 7)])
  const text = bytes.toString('base64url')
  assert.deepEqual(decodeToken(text, '/token'), bytes)
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(text.at(-1)!)
  const others = {
    padded: `${text}==`,
    'half padded': `${text}=`,
    'trailing bits': text.slice(0, -1) + 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'[last + 1],
    'standard alphabet': bytes.toString('base64').replace(/=+$/, ''),
    'mixed alphabets': text.replace('-', '+'),
    'a line feed': `${text}\n`,
    'a space before': ` ${text}`,
    'a space within': `${text.slice(0, 8)} ${text.slice(8)}`,
    'a stray character': `${bytes.subarray(0, 33).toString('base64url')}A`,
    'a character of no alphabet': `${text.slice(0, 8)}*${text.slice(8)}`,
    'a full stop': `${text}.`,
    NUL: `${text}\0`,
  }
  for (const [name, other] of Object.entries(others)) {
    assert.notEqual(other, text, name)
    assertInvalid(() => decodeToken(other, '/token'), '/token', /canonical/)
  }
})

describe('the key of an epoch', () => {
  const { n, e } = jwkOf(pair.publicKey)
  const integer = (bytes: number, first: number, last: number) => {
    const made = randomBytes(bytes)
    made[0] = first
    made[bytes - 1] = last
    return made.toString('base64url')
  }

  test('its id is the thumbprint of RFC 7638', () => {
    // The example of RFC 7638, 3.1.
    const example =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMst' +
      'n64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91' +
      'CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
    assert.equal(readEpochKey({ n: example, e: 'AQAB' }).epoch, 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  })

  test('its modulus has 2,048 to 4,096 bits, counted', () => {
    for (const [bytes, first] of [
      [256, 0x80],
      [257, 0x01],
      [512, 0xff],
    ] as const)
      assert.equal(readEpochKey({ n: integer(bytes, first, 1), e }).key.asymmetricKeyType, 'rsa')
    for (const [bytes, first] of [
      [128, 0x80],
      [256, 0x7f],
      [513, 0x01],
    ] as const)
      assertInvalid(() => readEpochKey({ n: integer(bytes, first, 1), e }), '/public_key/n', /2,048 to 4,096 bits/)
  })

  test('an even modulus is refused', () => {
    assertInvalid(() => readEpochKey({ n: integer(256, 0x80, 2), e }), '/public_key/n', /odd/)
  })

  test('an exponent of 1, or an even one, is refused', () => {
    for (const weak of [[1], [2], [4], [1, 0], [1, 0, 0, 0, 0, 0]])
      assertInvalid(() => readEpochKey({ n, e: Buffer.from(weak).toString('base64url') }), '/public_key/e', /odd and at least 3/)
    for (const good of [[3], [1, 1], [1, 0, 0, 0, 0, 1]])
      assert.equal(readEpochKey({ n, e: Buffer.from(good).toString('base64url') }).key.asymmetricKeyType, 'rsa')
  })

  test('an integer has one spelling: no leading zero, no stray bits, no padding, no other alphabet', () => {
    const padded = Buffer.concat([Buffer.alloc(1), Buffer.from(n, 'base64url')]).toString('base64url')
    assertInvalid(() => readEpochKey({ n: padded, e }), '/public_key/n', /leading zero/)
    assertInvalid(() => readEpochKey({ n, e: 'AAEAAQ' }), '/public_key/e', /leading zero/)
    assertInvalid(() => readEpochKey({ n, e: 'AA' }), '/public_key/e', /leading zero/)
    assertInvalid(() => readEpochKey({ n, e: '' }), '/public_key/e', /positive/)
    assertInvalid(() => readEpochKey({ n: `${n}==`, e }), '/public_key/n', /canonical/)
    // Three, with stray bits behind it.
    assertInvalid(() => readEpochKey({ n, e: 'Ax' }), '/public_key/e', /canonical/)
    assertInvalid(() => readEpochKey({ n: n.replace(/^../, '+/'), e }), '/public_key/n', /canonical/)
  })
})
