import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Context } from '#features/context.ts'
import { eventually } from '#testing/session-world.ts'
import { startMover } from './move-waiting.ts'

test('after a second set-back, times are moved once the first move has ended', async (t) => {
  const stopping = new AbortController()
  t.after(() => stopping.abort())
  const asked: string[] = []
  const first = Promise.withResolvers<never[]>()
  const db = {
    query: (statement: { name: string }) => {
      asked.push(statement.name)
      return asked.length === 1 ? first.promise : Promise.resolve([])
    },
  }
  const ctx = { db, log: { warn: () => undefined, error: () => undefined } } as unknown as Pick<Context, 'db' | 'log'>
  const move = startMover(ctx, stopping.signal)
  move(3_600)
  move(60)
  const starts = () => asked.filter((name) => name === 'webhooks-waiting-default').length
  await eventually(async () => asked.includes('blob-deletions-due-again'), 'the first one runs')
  assert.equal(starts(), 1)
  first.resolve([])
  await eventually(async () => starts() === 2, 'the second one runs')
})
