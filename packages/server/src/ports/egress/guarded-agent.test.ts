import { test } from 'node:test'
import assert from 'node:assert/strict'
import { startLoopClock } from '#testing/busy-machine.ts'
import { openEgressTo } from '#testing/open-test-egress.ts'
import { answering, startRawServer } from '#testing/raw-server.ts'
import { maxConnectionsPerOrigin } from './guarded-agent.ts'

test('connections to one origin are bounded, each carries one request at a time, and waiting for one counts against the deadline', async (t) => {
  let [open, most, mostOnOne] = [0, 0, 0]
  const { egress, server, url } = await openEgressTo(t, (socket) => {
    most = Math.max(most, ++open)
    let requests = 0
    socket.on('data', () => (mostOnOne = Math.max(mostOnOne, ++requests)))
    socket.on('close', () => open--)
  })
  const requests = Array.from({ length: 3 * maxConnectionsPerOrigin }, () =>
    egress.send({ method: 'GET', url, timeoutMs: 2_000 }),
  )
  const now = startLoopClock(t)
  const start = now()
  for (const outcome of await Promise.allSettled(requests))
    assert.equal(outcome.status === 'rejected' && outcome.reason.reason, 'timeout')
  assert.ok(now() - start < 3_900)
  await server.untilOpen(0)
  assert.deepEqual([most, mostOnOne], [maxConnectionsPerOrigin, 1])
})

test('a slow origin does not hold up another', async (t) => {
  const slow = await openEgressTo(t)
  const fast = await startRawServer(answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
  t.after(() => fast.close())
  const held = Promise.allSettled(
    Array.from({ length: 200 }, () => slow.egress.send({ method: 'GET', url: slow.url, timeoutMs: 1_000 })),
  )
  const answer = await slow.egress.send({ method: 'GET', url: `http://127.0.0.1:${fast.port}/`, timeoutMs: 10_000 })
  assert.equal(answer.status, 200)
  await slow.egress.close()
  await held
})
