import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { startLoopClock } from '#testing/busy-machine.ts'
import { openEgressTo } from '#testing/open-test-egress.ts'
import { answering, startRawServer } from '#testing/raw-server.ts'

function head(lines: string[] = []): string {
  return ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')
}

/** Writes for as long as the other side takes it, and counts what was written. */
function endless(start: string, piece: string, count: { written: number } = { written: 0 }): (socket: Socket) => void {
  return (socket) => {
    const fill = () => {
      while (!socket.destroyed && socket.write(piece)) count.written += piece.length
    }
    socket.once('data', () => (socket.write(start), fill()))
    socket.on('drain', fill)
  }
}

async function elapsedMs(t: TestContext, run: () => Promise<unknown>): Promise<number> {
  const now = startLoopClock(t)
  const start = now()
  await run()
  return now() - start
}

test('an answer comes back whole, with its status, headers and body', async (t) => {
  const answer = 'HTTP/1.1 418 Teapot\r\nX-One: 1\r\nx-two: a\r\nX-Two: b\r\n__proto__: p\r\ncontent-length: 5\r\n\r\nhello'
  const { egress, server, url } = await openEgressTo(t, answering(answer))
  const got = await egress.send({ method: 'POST', url: `${url}in?a=b#c`, headers: { 'X-Mine': 'ü' }, body: 'told' })
  assert.equal(got.status, 418)
  assert.equal(got.body.toString(), 'hello')
  assert.equal(got.truncated, false)
  assert.equal(got.headers['x-one'], '1')
  assert.equal(got.headers['x-two'], 'a, b')
  assert.equal(Object.getPrototypeOf(got.headers), Object.prototype)
  assert.match(server.received(), /^POST \/in\?a=b HTTP\/1\.1\r\n/)
  assert.match(server.received(), /\r\nX-Mine: ü\r\n.*\r\n\r\ntold$/s)
  assert.match(server.received(), /\r\naccept-encoding: identity\r\n/)
})

test('a redirect is an answer: its target is not reached', async (t) => {
  const target = await startRawServer()
  t.after(() => target.close())
  for (const status of [301, 302, 303, 307, 308]) {
    const answer = `HTTP/1.1 ${status} Moved\r\nlocation: http://127.0.0.1:${target.port}/\r\ncontent-length: 0\r\n\r\n`
    const { egress, url } = await openEgressTo(t, answering(answer))
    assert.equal((await egress.send({ method: 'GET', url })).status, status)
  }
  assert.equal(target.accepted(), 0)
})

test('an answer is cut at 64 KiB, and exactly 64 KiB is whole', async (t) => {
  const exact = await openEgressTo(t, answering(`${head(['content-length: 65536'])}${'x'.repeat(65_536)}`))
  const whole = await exact.egress.send({ method: 'GET', url: exact.url })
  assert.deepEqual([whole.body.length, whole.truncated], [65_536, false])
  const over = await openEgressTo(t, answering(`${head(['content-length: 65537'])}${'x'.repeat(65_537)}`))
  const cut = await over.egress.send({ method: 'GET', url: over.url })
  assert.deepEqual([cut.body.length, cut.truncated], [65_536, true])
})

test('a body without end is cut, its connection closed, and little of it was taken', async (t) => {
  const count = { written: 0 }
  const { egress, server, url } = await openEgressTo(t, endless(head(), 'x'.repeat(65_536), count))
  const before = process.memoryUsage().arrayBuffers
  const answers = await Promise.all(Array.from({ length: 20 }, () => egress.send({ method: 'GET', url })))
  for (const { body, truncated } of answers) assert.deepEqual([body.length, truncated], [65_536, true])
  await server.untilOpen(0)
  // Most of it waits in the buffers of the kernel.
  assert.ok(count.written < 20 * 16 * 1024 * 1024, `${count.written} bytes written`)
  assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024)
})

test('headers without end are refused', async (t) => {
  for (const [start, piece] of [
    ['HTTP/1.1 200 OK\r\n', `x-a: ${'a'.repeat(1_000)}\r\n`],
    ['HTTP/1.1 200 OK\r\nx-a: ', 'a'.repeat(1_000)],
    ['HTTP/1.1 200 OK\r\n', 'a'.repeat(1_000)],
    [`${head(['transfer-encoding: chunked'])}0\r\n`, `x-a: ${'a'.repeat(1_000)}\r\n`],
  ] as const) {
    const { egress, server, url } = await openEgressTo(t, endless(start, piece))
    await assert.rejects(
      egress.send({ method: 'GET', url, timeoutMs: 5_000 }),
      { name: 'EgressError', reason: 'protocol' },
      piece.slice(0, 9),
    )
    await server.untilOpen(0)
  }
  const { egress, url } = await openEgressTo(t, answering(head([`x-a: ${'a'.repeat(20_000)}`, 'content-length: 0'])))
  await assert.rejects(egress.send({ method: 'GET', url }), { name: 'EgressError', reason: 'protocol' }, 'more than 16 KiB')
})

test('the deadline is over the whole exchange, however the other side dribbles, and closes the connection', async (t) => {
  const dribbles: Record<string, (socket: Socket) => void> = {
    'no byte at all': () => undefined,
    'a head of single bytes': (socket) => drip(socket, '', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(10_000)}`),
    'a body of single bytes': (socket) => drip(socket, head(['content-length: 10000']), 'x'.repeat(10_000)),
    'a body that stops': (socket) => drip(socket, head(['content-length: 10000']), ''),
  }
  for (const [name, onConnection] of Object.entries(dribbles)) {
    const { egress, server, url } = await openEgressTo(t, onConnection)
    const took = await elapsedMs(t, () =>
      assert.rejects(egress.send({ method: 'GET', url, timeoutMs: 300 }), { reason: 'timeout' }, name),
    )
    assert.ok(took < 2_000, `${name}: ${took} ms`)
    await server.untilOpen(0)
  }
})

function drip(socket: Socket, start: string, text: string): void {
  socket.write(start)
  let at = 0
  const timer = setInterval(() => socket.write(text.charAt(at++)), 10)
  socket.on('close', () => clearInterval(timer))
}

test('a TLS server that never shakes hands ends with the deadline', async (t) => {
  const { egress, server } = await openEgressTo(t)
  const request = egress.send({ method: 'GET', url: `https://127.0.0.1:${server.port}/`, timeoutMs: 200 })
  await assert.rejects(request, { reason: 'timeout' })
})

test('what is not HTTP, and a connection that breaks off, are errors that echo nothing of it', async (t) => {
  const cases: [string, string][] = [
    ['secret-of-another-service\r\n\r\n', 'protocol'],
    ['SSH-2.0-OpenSSH_9.9 secret\r\n', 'protocol'],
    ['HTTP/1.1 200 OK\r\ncontent-length: x secret\r\n\r\n', 'protocol'],
    ['HTTP/1.1 101 Switching Protocols\r\nupgrade: secret\r\nconnection: upgrade\r\n\r\n', 'lost'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nsecret', 'lost'],
    ['', 'lost'],
  ]
  for (const [answer, reason] of cases) {
    const { egress, url } = await openEgressTo(t, (socket) => socket.once('data', () => socket.end(answer)))
    await assert.rejects(egress.send({ method: 'GET', url }), (error: Error & { reason: string }) => {
      assert.deepEqual([error.name, error.reason], ['EgressError', reason], answer)
      assert.doesNotMatch(error.message, /secret|127\.0/)
      return true
    })
  }
})

test('a port where nobody listens is a connect error', async (t) => {
  const { egress, server, url } = await openEgressTo(t)
  await server.close()
  await assert.rejects(egress.send({ method: 'GET', url }), {
    reason: 'connect',
    message: 'The connection could not be made (ECONNREFUSED).',
  })
})

test('no header value or name can add a line to the request, and none can name another host or frame the message', async (t) => {
  const { egress, server, url } = await openEgressTo(t, answering(head(['content-length: 0'])))
  for (const value of ['a\r\nx-evil: 1', 'a\nx-evil: 1', 'a\rx-evil: 1', 'a\u010d\u010ax-evil: 1', 'a\u0000b'])
    await assert.rejects(egress.send({ method: 'POST', url, headers: { 'x-a': value } }), { reason: 'protocol' })
  for (const name of ['x-a: 1\r\nx-evil', 'x a', '', 'x-a:', 'x\u010aevil'])
    await assert.rejects(egress.send({ method: 'POST', url, headers: { [name]: '1' } }), { reason: 'protocol' }, name)
  assert.equal(server.received(), '')
  const headers = {
    Host: 'evil.example',
    'Transfer-Encoding': 'chunked',
    'content-length': '1',
    Connection: 'upgrade',
    Upgrade: 'h2c',
    'accept-encoding': 'br',
  }
  await egress.send({ method: 'POST', url, headers, body: 'body' })
  assert.match(server.received(), /\r\nhost: 127\.0\.0\.1:\d+\r\n/)
  assert.match(server.received(), /\r\ncontent-length: 4\r\n/)
  assert.doesNotMatch(server.received(), /evil|chunked|h2c|br\r\n/)
})

test('the environment names no proxy, and no cookie comes back', async (t) => {
  const proxy = await startRawServer()
  t.after(() => proxy.close())
  const address = `http://127.0.0.1:${proxy.port}`
  const env = {
    ...process.env,
    http_proxy: address,
    HTTP_PROXY: address,
    https_proxy: address,
    HTTPS_PROXY: address,
    NODE_USE_ENV_PROXY: '1',
  }
  t.mock.property(process, 'env', env)
  const { egress, server, url } = await openEgressTo(t, answering(head(['set-cookie: a=b', 'content-length: 0'])))
  await egress.send({ method: 'GET', url })
  await egress.send({ method: 'GET', url })
  assert.equal(server.received().match(/^GET /gm)?.length, 2)
  assert.doesNotMatch(server.received(), /cookie/i)
  assert.equal(proxy.accepted(), 0)
})

test('an abort by the caller comes back as its own reason and closes the connection', async (t) => {
  const { egress, server, url } = await openEgressTo(t)
  const caller = new AbortController()
  const request = egress.send({ method: 'GET', url, signal: caller.signal })
  await server.untilAccepted(1)
  const reason = new Error('stopped')
  caller.abort(reason)
  await assert.rejects(request, reason)
  await assert.rejects(egress.send({ method: 'GET', url, signal: AbortSignal.abort(reason) }), reason)
  await server.untilOpen(0)
  assert.equal(server.accepted(), 1)
})

test('close ends what is under way', async (t) => {
  const { egress, server, url } = await openEgressTo(t)
  const request = assert.rejects(egress.send({ method: 'GET', url }), { reason: 'lost' })
  await server.untilAccepted(1)
  await egress.close()
  await request
  await assert.rejects(egress.send({ method: 'GET', url }), { reason: 'lost' })
})
