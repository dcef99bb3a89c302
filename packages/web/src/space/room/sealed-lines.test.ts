import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { open, pageOf, secret } from '../../../../room-client/src/testing/tampered-rooms.ts'
import { SealedLines } from './sealed-lines.ts'

const { lines: honest } = await open(4)

test('after a line that is wrong nothing is read, also where the service then has the right one', async () => {
  const lines = await SealedLines.open(secret)
  await lines.take(await pageOf(honest.slice(0, 2)))
  const wrong = [...honest.slice(2, 4), 'no line']
  for (const rest of [wrong, wrong, honest.slice(2), honest.slice(4)]) {
    const error: unknown = await lines.take(await pageOf(rest, {}, 2)).catch((failure: unknown) => failure)
    assert.ok(error instanceof TamperedRoomError)
    assert.deepEqual([error.problem, error.seq, error.entries.map(({ id }) => id)], ['form', 4, ['m2', 'm3']])
  }
})
