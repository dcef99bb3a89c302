import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCsv } from './csv.ts'

test('fields with commas, quotes and line breaks are quoted, and null is empty', () => {
  const csv = toCsv(
    ['a', 'b'],
    [
      ['one, two', 'say "hi"'],
      ['line\nbreak', null],
      ['plain', 7],
    ],
  )
  assert.equal(csv, '\uFEFFa,b\r\n"one, two","say ""hi"""\r\n"line\nbreak",\r\nplain,7\r\n')
})

test('text that a spreadsheet would run as a formula stays text, and numbers stay numbers', () => {
  const csv = toCsv(['memo'], [['=1+1'], ['+1'], ['-1'], ['@a'], ['\t=1'], [-5]])
  assert.deepEqual(csv.slice(1).split('\r\n').slice(1, 7), ["'=1+1", "'+1", "'-1", "'@a", "'\t=1", '-5'])
})
