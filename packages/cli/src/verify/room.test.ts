import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { policyLimits } from '../../../space/src/rooms/head.ts'
import { CheckFailed } from './report.ts'
import { readStoredLines } from './room.ts'

const answerOf = (sealed: string) => ({
  alg: 'A256GCM',
  bytes: sealed.length,
  sha256: createHash('sha256').update(sealed).digest('hex'),
  sealed,
})
const linesOf = (count: number) => Array.from({ length: count }, () => 'x').join('\n')

test('a room that is full of messages and lists is read, and a larger answer is refused', () => {
  const { lines, bytes } = policyLimits
  assert.equal(readStoredLines(answerOf(linesOf(lines))).length, lines)
  assert.throws(() => readStoredLines(answerOf(linesOf(lines + 1))), CheckFailed)
  // The service counts a separator for each line, also for the last one.
  const line = 'x'.repeat(65_535)
  const full = Array.from({ length: bytes / 65_536 }, () => line).join('\n')
  assert.equal(readStoredLines(answerOf(full)).length, bytes / 65_536)
  assert.throws(() => readStoredLines(answerOf(`${full}\n${line}`)), CheckFailed)
})
