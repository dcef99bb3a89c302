import assert from 'node:assert/strict'
import test from 'node:test'
import { processorMs } from '../../../server/testing/processor-block.ts'
import { cleanLine, cleanParagraphs, truncate } from './clean-text.ts'

test('a value that is not a string, or is invisible, is no text', () => {
  for (const value of [
    undefined,
    null,
    7,
    true,
    ['a'],
    { toString: () => 'a' },
    '',
    ' \n\t',
    '\u200b\u2060',
    '\ud800',
    '\u3164\u2800',
  ]) {
    assert.equal(cleanLine(value, 200), undefined)
    assert.deepEqual(cleanParagraphs(value, 200), [])
  }
})

test('control characters, bidi overrides and lone surrogates are removed; the marks that right-to-left text needs are kept', () => {
  assert.equal(cleanLine('a\u0000b\u001b[31m\u0085c\u202ed\u2066e\u2069\ud83df\udc00', 200), 'ab[31m cdef')
  assert.equal(cleanLine('שלום\u200f!', 200), 'שלום\u200f!')
  assert.equal(cleanLine('می\u200cخواهم', 200), 'می\u200cخواهم')
})

test('a line is one line', () => {
  assert.equal(cleanLine('  a\r\n\r\nb\u2028c\td ', 200), 'a b c d')
})

test('a blank line parts paragraphs, a single break stays a break, more blank lines add nothing', () => {
  assert.deepEqual(cleanParagraphs('a\r\nb\n \n\n\n\nc\u2029d', 200), [
    ['a', 'b'],
    ['c', 'd'],
  ])
})

test('a cut keeps within the limit and never splits a grapheme', () => {
  const family = '👩‍👩‍👧‍👦'
  assert.equal(truncate(family.repeat(3), 3), family.repeat(3).slice(0, family.length) + '…')
  assert.equal(truncate('e\u0301'.repeat(10), 5), 'e\u0301'.repeat(4) + '…')
  assert.equal(truncate('a'.repeat(200), 200), 'a'.repeat(200))
  assert.equal(cleanLine('a'.repeat(201), 200), `${'a'.repeat(199)}…`)
  assert.equal(cleanLine('🇬🇧'.repeat(200), 200), '🇬🇧'.repeat(200))
})

test('a tower of accents is cut down, and a megabyte is cheap', () => {
  assert.equal(cleanLine(`a${'\u0301'.repeat(1000)}b`, 2000), `a${'\u0301'.repeat(6)}b`)
  const started = processorMs()
  cleanParagraphs(`a${'\u0301'.repeat(1_000_000)}`, 2_000)
  cleanParagraphs('a\n'.repeat(1_000_000), 2_000)
  // A quadratic algorithm would take minutes here.
  assert.ok(processorMs() - started < 5_000)
})
