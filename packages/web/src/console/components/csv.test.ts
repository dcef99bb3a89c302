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
  const csv = toCsv(['memo'], [['=1+1'], ['+1'], ['-1'], ['@a'], ['\t=1'], ['＝1'], [-5]])
  assert.deepEqual(csv.slice(1).split('\r\n').slice(1, 8), ["'=1+1", "'+1", "'-1", "'@a", "'\t=1", "'＝1", '-5'])
  assert.equal(toCsv(['memo'], [['\n=1+1']]).slice(1), 'memo\r\n"\'\n=1+1"\r\n')
})
