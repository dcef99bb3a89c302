import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { ArrivingBodies } from './arriving-bodies.ts'

test('among senders that hold equally much, the one that was there first gives way', () => {
  const refused: string[] = []
  const bodies = new ArrivingBodies({
    bodyBytes: 100_000,
    maxBytes: 3 * 4_096,
    tooLarge: () => new Error('too large'),
    tooMany: () => new Error('too many'),
    cutOff: () => new Error('cut off'),
  })
  const senders = ['stalled 1', 'stalled 2', 'stalled 3', 'new 1', 'new 2', 'new 3']
  for (const sender of senders) {
    const req = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage & PassThrough
    bodies.read(
      req,
      () => sender,
      (error) => error && refused.push(sender),
    )
    req.emit('data', Buffer.from('{'))
  }
  assert.deepEqual(refused, ['stalled 1', 'stalled 2', 'stalled 3'])
})
