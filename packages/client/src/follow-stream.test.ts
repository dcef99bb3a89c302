import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClient } from './create-client.ts'
import { followStream } from './follow-stream.ts'
import { openRoom } from './open-room.ts'
import { errorAnswer, startScriptedServer, type ScriptedAnswer } from './testing/scripted-server.ts'

const server = await startScriptedServer()
after(() => server.stop())

const client = createClient({ baseUrl: server.origin, key: 'wpk_test', retries: 0 })
const id = 'col_4fRzK0vXcB1mQwErTy7uPa'
const wait = async () => undefined
const headers = { 'content-type': 'text/event-stream' }
const stream = (body: string): ScriptedAnswer => ({ headers, body })
const message = (cursor: string, event: string, data: object) =>
  `id: ${cursor}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const lastIds = () => server.seen.map((request) => request.headers['last-event-id'])

test('a stream that ends or breaks is continued after the last id, also one that a comment brought', async () => {
  server.script(
    stream(`retry: 2000\n\n${message('a', 'ready', {})}${message('b', 'item', { id: 1 })}:\nid: c\n\n`),
    { cut: true },
    errorAnswer(503, 'unavailable', { 'retry-after': '1' }),
    stream(`${message('d', 'removed', { id: 2 })}id: e\nevent: item\ndata: {"id`),
    stream(message('e', 'item', { id: 3 }).replaceAll('\n', '\r\n')),
    errorAnswer(404, 'not_found'),
  )
  const seen: unknown[] = []
  const follow = async () => {
    for await (const one of followStream(client.streamCollection, { id, collectionToken: 'cat_x', wait })) seen.push(one)
  }
  await assert.rejects(follow(), { name: 'NotFoundError' })
  assert.deepEqual(seen, [
    { id: 'a', event: 'ready', data: {} },
    { id: 'b', event: 'item', data: { id: 1 } },
    { id: 'd', event: 'removed', data: { id: 2 } },
    { id: 'e', event: 'item', data: { id: 3 } },
  ])
  assert.deepEqual(lastIds(), [undefined, 'c', 'c', 'c', 'd', 'e'])
  assert.ok(server.seen.every((request) => request.headers['x-collection-token'] === 'cat_x'))
})

test('waits grow, and respect Retry-After', async () => {
  server.script(
    ...Array.from({ length: 3 }, () => errorAnswer(429, 'rate_limited', { 'retry-after': '7' })),
    errorAnswer(401, 'unauthorized'),
  )
  const waits: number[] = []
  const follow = async () => {
    const options = { wait: async (ms: number) => void waits.push(ms) }
    for await (const _ of followStream(client.streamEvents, options)) assert.fail()
  }
  await assert.rejects(follow(), { name: 'UnauthorizedError' })
  assert.equal(waits.length, 3)
  assert.ok(waits.every((ms) => ms >= 7_000 && ms < 9_000))
})

test('a signal ends it without an error, while it reads and while it waits', async () => {
  server.script({ hang: true })
  const abort = new AbortController()
  // Not before the request has arrived: it would take the next answer of the script.
  const timer = setInterval(() => server.seen.length > 0 && abort.abort(), 10)
  for await (const _ of followStream(client.streamWall, { id, signal: abort.signal })) assert.fail()
  clearInterval(timer)

  server.script(stream(message('a', 'ready', {})), { cut: true })
  const second = new AbortController()
  for await (const _ of followStream(client.streamWall, { id, signal: second.signal })) second.abort()
})

test('a reader that stops ends the connection, and a reset is a message', async () => {
  server.script(stream(message('x', 'reset', {}) + message('y', 'item', {})))
  for await (const { event, id: cursor } of followStream(client.streamWall, { id, lastEventId: 'old' })) {
    assert.deepEqual([event, cursor], ['reset', 'x'])
    break
  }
  assert.deepEqual(lastIds(), ['old'])
})

test('a message without end is refused', async () => {
  server.script(stream(`data: ${'x'.repeat(1_100_000)}`))
  const follow = async () => {
    for await (const _ of followStream(client.streamWall, { id, wait })) assert.fail()
  }
  await assert.rejects(follow(), { name: 'UnexpectedAnswerError' })
})

test('in a page, a redirect is an error at once, although its status is hidden as that of a broken connection', async () => {
  const stop = new AbortController()
  let calls = 0
  // What fetch of a page returns for a redirect that is not followed.
  const fetch = async () => {
    if (++calls > 3) stop.abort()
    return Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
  }
  const { signal } = stop
  const redirected = createClient({ baseUrl: server.origin, key: 'wpk_test', fetch, wait })
  const room = openRoom({ spaceUrl: `${server.origin}/v1/space`, room: 'a'.repeat(22), mk: 'A'.repeat(22), fetch, wait })
  for (const call of [
    () => followStream(redirected.streamWall, { id, wait, signal }).next(),
    () => redirected.getTenant(),
    () => room.poll({ signal }),
    () => room.follow({ signal }).next(),
  ]) {
    calls = 0
    await assert.rejects(call, { name: 'UnexpectedAnswerError', status: 0, message: /redirect/ })
    assert.equal(calls, 1)
  }
})
