import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddresses } from './parse-addresses.ts'

test('addresses are read as people paste them', () => {
  const { emails, wrong } = parseAddresses(
    'ann@example.com, Bob B. <Bob@Example.com>;\ncem@example.org dan@example.org\n\nann@example.com',
  )
  assert.deepEqual(emails, ['ann@example.com', 'bob@example.com', 'cem@example.org', 'dan@example.org'])
  assert.deepEqual(wrong, [])
})

test('what is no address is named', () => {
  assert.deepEqual(parseAddresses('ann@, @x.org, ann, a@b').wrong, ['ann@', '@x.org', 'ann', 'a@b'])
})
