import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseByteRange } from './byte-range.ts'

const cases: [string | undefined, [number, number] | undefined][] = [
  ['bytes=0-0', [0, 0]],
  ['bytes=0-99', [0, 99]],
  ['bytes=10-', [10, 99]],
  ['bytes=90-200', [90, 99]],
  ['bytes=-1', [99, 99]],
  ['bytes=-500', [0, 99]],
  [undefined, undefined],
  ['', undefined],
  ['bytes=-', undefined],
  ['bytes=-0', undefined],
  ['bytes=100-', undefined],
  ['bytes=100-200', undefined],
  ['bytes=20-10', undefined],
  ['bytes=0-1,5-6', undefined],
  ['bytes=a-b', undefined],
  ['bytes=0x1-0x5', undefined],
  ['bytes=1e1-', undefined],
  ['items=0-1', undefined],
  ['bytes=99999999999999999999-', undefined],
]
for (const [header, expected] of cases) {
  test(`of 100 bytes, ${JSON.stringify(header)} is ${expected ? expected.join(' to ') : 'the whole'}`, () => {
    assert.deepEqual(parseByteRange(header, 100), expected && { start: expected[0], end: expected[1] })
  })
}

test('an empty file has no range', () => {
  assert.equal(parseByteRange('bytes=0-0', 0), undefined)
  assert.equal(parseByteRange('bytes=-5', 0), undefined)
})
