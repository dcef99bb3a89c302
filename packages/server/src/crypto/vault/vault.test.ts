import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Vault } from './vault.ts'

const vault = new Vault([Buffer.alloc(32, 1)])
const place = { tenant: 'ten_a', table: 'items', column: 'access_list', row: 'itm_a' } as const
const secret = Buffer.from('ada@harbour.example')

test('what was sealed opens in its place', () => {
  assert.deepEqual(vault.open(vault.seal(secret, place), place), secret)
})

for (const part of ['tenant', 'table', 'column', 'row'] as const) {
  test(`ciphertext moved to another ${part} is refused`, () => {
    const sealed = vault.seal(secret, place)
    assert.throws(() => vault.open(sealed, { ...place, [part]: 'other' }))
  })
}

test('every flipped byte is noticed', () => {
  const sealed = vault.seal(secret, place)
  for (let i = 0; i < sealed.length; i++) {
    const damaged = Buffer.from(sealed)
    damaged[i]! ^= 1
    assert.throws(() => vault.open(damaged, place), `byte ${i}`)
  }
})

test('an answer opens with the caller’s key alone neither under another master key nor with another caller’s', () => {
  const sealed = vault.sealWith('caller', secret)
  assert.deepEqual(vault.openWith('caller', sealed), secret)
  assert.throws(() => vault.openWith('other', sealed))
  assert.throws(() => new Vault([Buffer.alloc(32, 2)]).openWith('caller', sealed))
})

test('a new master key takes over envelopes without opening them; the old one no longer opens what it took over', () => {
  const fresh = Buffer.alloc(32, 2)
  const both = new Vault([fresh, Buffer.alloc(32, 1)])
  const sealed = vault.seal(secret, place)
  assert.deepEqual(both.open(sealed, place), secret)
  const rewrapped = both.rewrap(sealed, place)
  assert.deepEqual(rewrapped.subarray(65), sealed.subarray(65), 'the value itself is not touched')
  assert.deepEqual(new Vault([fresh]).open(rewrapped, place), secret)
  assert.throws(() => vault.open(rewrapped, place), /another master key/)
  assert.throws(() => new Vault([fresh]).open(sealed, place), /another master key/)
  assert.throws(() => both.rewrap(sealed, { ...place, row: 'itm_b' }))
  assert.deepEqual(both.openWith('caller', vault.sealWith('caller', secret)), secret)
})

test('a fingerprint is of one value, one caller and one master key; during a rotation each configured key is tried', () => {
  const stored = vault.fingerprintWith('caller', secret)
  const [fresh, old] = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)]
  for (const one of [vault, new Vault([fresh, old]), new Vault([old, fresh])]) {
    assert.equal(one.isFingerprintWith('caller', secret, stored), true)
    assert.equal(one.isFingerprintWith('caller', Buffer.from('bob@harbour.example'), stored), false)
    assert.equal(one.isFingerprintWith('other', secret, stored), false)
  }
  assert.notDeepEqual(new Vault([fresh]).fingerprintWith('caller', secret).subarray(5), stored.subarray(5))
  assert.throws(() => new Vault([fresh]).isFingerprintWith('caller', secret, stored), /another master key/)
})

test('a fingerprint of a digest is of one digest, one caller and one master key', () => {
  const [digest, other] = [Buffer.alloc(32, 3), Buffer.alloc(32, 4)]
  const stored = vault.fingerprintDigestWith('caller', digest)
  const [fresh, old] = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)]
  for (const one of [vault, new Vault([fresh, old]), new Vault([old, fresh])]) {
    assert.equal(one.isDigestFingerprintWith('caller', digest, stored), true)
    assert.equal(one.isDigestFingerprintWith('caller', other, stored), false)
    assert.equal(one.isDigestFingerprintWith('other', digest, stored), false)
    assert.equal(one.isFingerprintWith('caller', digest, stored), false)
  }
  assert.throws(() => vault.fingerprintDigestWith('caller', Buffer.alloc(31)), /32 bytes/)
  assert.throws(() => new Vault([fresh]).isDigestFingerprintWith('caller', digest, stored), /another master key/)
})

test('no two values share a key', () => {
  const [one, other] = [vault.seal(secret, place), vault.seal(secret, place)]
  // The value of one in the envelope of the other, in the same place.
  assert.throws(() => vault.open(Buffer.concat([one.subarray(0, 65), other.subarray(65)]), place))
})

test('the same value never seals to the same bytes', () => {
  assert.notDeepEqual(vault.seal(secret, place), vault.seal(secret, place))
})
