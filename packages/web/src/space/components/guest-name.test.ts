import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { guestName } from './guest-name.ts'

test('a guest has two words and ten characters, always the same ones', () => {
  const thumbprint = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA'
  assert.equal(guestName(thumbprint), guestName(thumbprint))
  assert.match(guestName(thumbprint), /^[A-Z][a-z]+ [A-Z][a-z]+ [0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
})

test('each value of the bits has a word', () => {
  for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    assert.match(guestName(character.repeat(43)), /^[A-Z][a-z]+ [A-Z][a-z]+ \S{11}$/)
})

test('each of the first 62 bits of the thumbprint shows in the name', () => {
  const bytes = randomBytes(32)
  const name = guestName(bytes.toString('base64url'))
  for (let bit = 0; bit < 62; bit++) {
    const other = Buffer.from(bytes)
    other[bit >> 3]! ^= 0x80 >> (bit & 7)
    assert.notEqual(guestName(other.toString('base64url')), name, `bit ${bit}`)
  }
})

test('10,000 guests have 10,000 names', () => {
  const names = Array.from({ length: 10_000 }, () => guestName(randomBytes(32).toString('base64url')))
  assert.equal(new Set(names).size, names.length)
})
