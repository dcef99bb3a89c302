import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseEmail } from './email.ts'

const same: readonly [string, string][] = [
  ['ann@example.com', 'ann@example.com'],
  ['  Ann@Example.COM \n', 'ann@example.com'],
  ['a.n+tag@example.com', 'a.n+tag@example.com'],
  ['ann@intranet', 'ann@intranet'],
  ['RENE\u0301@example.com', 'ren\u00e9@example.com'],
  ['邮件@例子.中国', '邮件@例子.中国'],
  ["o'neil@sub.example.co.uk", "o'neil@sub.example.co.uk"],
]

for (const [typed, compared] of same) {
  test(`${JSON.stringify(typed)} compares as ${compared}`, () => assert.equal(parseEmail(typed), compared))
}

const refused: readonly unknown[] = [
  undefined,
  null,
  7,
  {},
  ['ann@example.com'],
  '',
  ' ',
  'ann',
  '@example.com',
  'ann@',
  'a@b@c.com',
  'ann@example..com',
  'ann@-example.com',
  'ann@example-.com',
  'ann@.com',
  'ann@example.com.',
  '.ann@example.com',
  'ann.@example.com',
  'an..n@example.com',
  'an n@example.com',
  '"an n"@example.com',
  'ann@[127.0.0.1]',
  'Ann <ann@example.com>',
  'ann@example.com,bob@example.com',
  'ann@example.com\nbcc:x',
  'ann\u0000@example.com',
  'an\u200bn@example.com',
  'ann＠example.com',
  'mi\u212Ae@example.com',
  'ann@\u212Aelvin.com',
  '\ud800@example.com',
  `${'a'.repeat(65)}@example.com`,
  `ann@${'a'.repeat(64)}.com`,
  `ann@${'a.'.repeat(130)}com`,
  'a'.repeat(100_000),
]

for (const value of refused) {
  test(`${JSON.stringify(value)?.slice(0, 60)} is no address`, () => assert.equal(parseEmail(value), undefined))
}

test('an address in comparison form does not change', () => {
  const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(part, part, (local, domain) => {
      const email = parseEmail(`${local}@${domain}`)
      if (email !== undefined) assert.equal(parseEmail(email), email)
    }),
    { numRuns: 3000 },
  )
})
