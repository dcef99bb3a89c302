import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followRoom, type FollowOptions, RewrittenHistoryError } from './follow-room.ts'
import { SpaceCallError } from './space-call-error.ts'
import type { Entry, RoomPage } from './space-ops.ts'

interface Asked {
  sinceCount: number
  sinceEtag: string
  waitMs: number
}
type Scripted = RoomPage | SpaceCallError

const entry = (seq: number): Entry => ({ seq, id: `e${seq}`, at: '', author: { kind: 'anonymous' }, message: { text: `${seq}` } })
const page = (count: number, seqs: number[], etag = `etag${count}`): RoomPage => ({
  etag,
  count,
  entries: seqs.map(entry),
  policy: 'open',
})
const failure = (status: number, error: string, retryAfterSeconds?: number) =>
  new SpaceCallError({ status, error, message: error, retryAfterSeconds })

/** Follows a room with these answers, and then aborts. */
async function follow(script: Scripted[], options: FollowOptions = {}) {
  const asked: Asked[] = []
  const waitsMs: number[] = []
  const stop = new AbortController()
  const room = {
    poll: async ({ sinceCount, sinceEtag, waitMs }: Asked) => {
      const answer = script[asked.length]
      if (!answer) stop.abort()
      stop.signal.throwIfAborted()
      asked.push({ sinceCount, sinceEtag, waitMs })
      if (answer instanceof Error) throw answer
      return answer!
    },
    wait: async (ms: number) => void waitsMs.push(ms),
  }
  const seqs: number[] = []
  for await (const { seq } of followRoom(room, { signal: stop.signal, ...options })) seqs.push(seq)
  return { seqs, asked, waitsMs }
}

test('each poll continues where the previous one ended', async () => {
  const { seqs, asked } = await follow([page(3, [1, 2]), page(5, [3, 4]), page(5, [])])
  assert.deepEqual(seqs, [1, 2, 3, 4])
  assert.deepEqual(asked, [
    { sinceCount: 0, sinceEtag: '', waitMs: 0 },
    { sinceCount: 3, sinceEtag: 'etag3', waitMs: 25_000 },
    { sinceCount: 5, sinceEtag: 'etag5', waitMs: 25_000 },
  ])
})

test("'now' first reads the end of the room, without waiting", async () => {
  const { seqs, asked } = await follow([page(7, []), page(8, [7])], { after: 'now' })
  assert.deepEqual(seqs, [7])
  assert.deepEqual([asked[0]!.waitMs, asked[1]!.sinceCount], [0, 7])
})

test('while the service is unavailable, it retries with growing delays and never before Retry-After, and continues at the same place', async () => {
  const away = [
    failure(0, 'network_error'),
    failure(503, 'unavailable'),
    failure(502, 'unexpected_answer'),
    failure(429, 'rate_limited', 5),
    ...Array.from({ length: 6 }, () => failure(504, 'unexpected_answer')),
  ]
  const { seqs, asked, waitsMs } = await follow([page(2, [1]), ...away, page(3, [2])])
  assert.deepEqual(seqs, [1, 2])
  assert.deepEqual(new Set(asked.slice(1).map(({ sinceCount }) => sinceCount)), new Set([2]))
  assert.equal(waitsMs.length, away.length)
  assert.ok(waitsMs[3]! >= 5_000)
  for (const [n, ms] of waitsMs.toSpliced(3, 1).entries()) assert.ok(ms <= Math.min(8_000, 250 * 2 ** (n + 1)), `${n}: ${ms}`)
})

test('a service without long polling is polled once a second', async () => {
  const { waitsMs } = await follow([page(2, [1]), page(2, []), page(2, []), page(3, [2])])
  assert.deepEqual(waitsMs, [1_000, 1_000])
})

test('a rejection ends it, and so does the removal of the room', async () => {
  await assert.rejects(follow([page(2, [1]), failure(403, 'not_authorized')]), { error: 'not_authorized' })
  await assert.rejects(follow([page(2, [1]), failure(404, 'not_found')], { waitForRoom: true }), { error: 'not_found' })
  await assert.rejects(follow([failure(404, 'not_found')]), { error: 'not_found' })
  const { seqs } = await follow([failure(404, 'not_found'), failure(404, 'not_found'), page(2, [1])], {
    waitForRoom: true,
    after: 'now',
  })
  assert.deepEqual(seqs, [1])
})

test('a rewritten history is an error, and none of its entries is yielded', async () => {
  const read = page(5, [1, 2, 3, 4])
  const rewritten = [page(5, [], 'other'), page(3, [1, 2]), page(9, [1, 2, 3, 4, 5, 6, 7, 8]), page(5, [1, 2, 3, 4], 'other')]
  for (const other of rewritten) await assert.rejects(follow([read, other]), RewrittenHistoryError)
})
