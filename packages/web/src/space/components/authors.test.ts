import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Author } from '@atrium/room-client/space-ops'
import { authorName, initials, spokenName } from './authors.ts'

const email = 'mallory@example.com'
const key = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA'

test('no account and no agent is called what the app calls the reader', () => {
  for (const name of [
    'You',
    'you',
    ' YOU ',
    'Y\u200bou',
    'Yоu',
    'Уou',
    'Ｙｏｕ',
    'Yóu',
    '"You"',
    'Y.o.u',
    '\u202eYou',
    'Υou'.replace('Υ', 'γ'),
  ])
    assert.equal(authorName({ kind: 'account', email, name }), email, name)
  assert.equal(authorName({ kind: 'agent', id: 'agt_0123456789abcdefghijkl', name: 'You' }), 'Agent')
  for (const name of ['Youssef', 'Ann', 'Yo', '悠']) assert.equal(authorName({ kind: 'account', email, name }), name)
})

test('a name without anything to see is none', () => {
  assert.equal(authorName({ kind: 'account', email, name: '\u200b\u2060 ' }), email)
})

test('a name that a guest claims says that it is a guest’s, with the sign of the key', () => {
  const guest: Author = { kind: 'anonymous', key, name: ' Ann\u202e van\nBerg ' }
  assert.equal(authorName(guest), 'Ann vanBerg (guest)')
  assert.match(spokenName(guest), /^Ann vanBerg \(guest\), unverified guest, [A-Z][a-z]+ [A-Z][a-z]+ \S{11}$/)
  assert.equal(initials(guest), 'AV')
  for (const name of ['ann@example.com', 'You', 'Yоu', '\u200b', 'x'.repeat(90)])
    assert.equal(authorName({ kind: 'anonymous', key, name }), authorName({ kind: 'anonymous', key }), name)
})

test('a guest without a name has that of the key, and is said to be unverified', () => {
  const guest: Author = { kind: 'anonymous', key }
  assert.match(spokenName(guest), /^[A-Z][a-z]+ [A-Z][a-z]+ \S{11}, unverified guest$/)
  assert.match(initials(guest), /^[A-Z]{2}$/)
  assert.equal(authorName({ kind: 'anonymous' }), 'Guest')
})

test('initials are of the name, or of an address before its @', () => {
  assert.equal(initials({ kind: 'account', email: 'ann.berg@example.com' }), 'AB')
  assert.equal(initials({ kind: 'account', email: 'cem@mail.example.com' }), 'C')
  assert.equal(initials({ kind: 'account', email, name: 'Ann van Berg' }), 'AB')
})

test('an account that chose a name is read out with the address that is vouched for', () => {
  assert.equal(spokenName({ kind: 'account', email, name: 'Ann' }), `Ann, ${email}`)
  assert.equal(spokenName({ kind: 'account', email }), email)
})
