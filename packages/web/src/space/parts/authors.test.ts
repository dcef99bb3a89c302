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

test('a guest has no name but that of the key, and is said to be unverified', () => {
  const guest: Author = { kind: 'anonymous', key, name: 'Ann' }
  assert.doesNotMatch(authorName(guest), /Ann/)
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
