import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { MockAgent } from 'undici'
import { startLoopClock } from '#testing/busy-machine.ts'
import { openTestEgress } from '#testing/open-test-egress.ts'
import { answering, startRawServer } from '#testing/raw-server.ts'

async function openServer(t: TestContext, handle: (req: IncomingMessage, res: ServerResponse) => void) {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => (server.closeAllConnections(), server.close()))
  const egress = openTestEgress(t, { mode: 'loopback' })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, egress, fetch: egress.fetch, server }
}

function echo(req: IncomingMessage, res: ServerResponse): void {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const { method, url, headers } = req
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') }))
  })
}

test('method, headers and every kind of body arrive, with a length unless it is a stream', async (t) => {
  const { fetch, url } = await openServer(t, echo)
  const form = new FormData()
  form.set('file', new Blob(['in a form']), 'a.txt')
  const bodies: [NonNullable<RequestInit['body']>, RegExp, RegExp][] = [
    ['text', /^text$/, /^text\/plain/],
    [new TextEncoder().encode('bytes'), /^bytes$/, /^$/],
    [new Blob(['blob'], { type: 'image/png' }), /^blob$/, /^image\/png$/],
    [new URLSearchParams({ a: 'b c' }), /^a=b\+c$/, /^application\/x-www-form-urlencoded/],
    [form, /in a form/, /^multipart\/form-data; boundary=/],
  ]
  for (const [body, expected, type] of bodies) {
    const got = (await (await fetch(`${url}a?b`, { method: 'PUT', body, headers: { 'x-a': '1' } })).json()) as Record<
      string,
      never
    >
    assert.match(got['body']!, expected)
    assert.match(got['headers']!['content-type'] ?? '', type)
    assert.deepEqual([got['method'], got['url'], got['headers']!['x-a']], ['PUT', '/a?b', '1'])
    assert.ok(Number(got['headers']!['content-length']) > 0)
  }
  const stream = new ReadableStream({
    start: (c) => (c.enqueue(Buffer.from('in ')), c.enqueue(Buffer.from('pieces')), c.close()),
  })
  const streamed = (await (await fetch(url, { method: 'POST', body: stream, duplex: 'half' })).json()) as Record<string, never>
  assert.deepEqual([streamed['body'], streamed['headers']!['transfer-encoding']], ['in pieces', 'chunked'])
  const fromRequest = (await (await fetch(new Request(url, { method: 'POST', body: 'of a request' }))).json()) as Record<
    string,
    never
  >
  assert.deepEqual([fromRequest['method'], fromRequest['body']], ['POST', 'of a request'])
})

test('the answer is a Response of the platform, its url and headers with it, and streams as it arrives', async (t) => {
  let finish: () => void = () => undefined
  const { fetch, url } = await openServer(t, (_req, res) => {
    res.setHeader('set-cookie', ['a=1', 'b=2'])
    res.write('first')
    finish = () => res.end('last')
  })
  const response = await fetch(url)
  assert.ok(response instanceof Response)
  assert.deepEqual([response.status, response.ok, response.url, response.redirected], [200, true, url, false])
  assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  assert.equal((await reader.read()).value, 'first')
  finish()
  assert.equal((await reader.read()).value, 'last')
  assert.equal((await reader.read()).done, true)
})

test('a redirect comes back as it is, whatever init asks for', async (t) => {
  const target = await startRawServer()
  t.after(() => target.close())
  const { fetch, url } = await openServer(t, (_req, res) =>
    res.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end(),
  )
  for (const redirect of ['follow', 'manual', 'error'] as const) assert.equal((await fetch(url, { redirect })).status, 307)
  assert.equal((await fetch(new Request(url, { redirect: 'follow' }))).status, 307)
  assert.equal(target.accepted(), 0)
})

test('no dispatcher, agent or proxy passes through init or a Request', async (t) => {
  const { fetch, url } = await openServer(t, echo)
  const dispatcher = new MockAgent()
  dispatcher.disableNetConnect()
  t.after(() => dispatcher.close())
  const foreign = {
    dispatcher,
    agent: dispatcher,
    client: dispatcher,
    origin: 'http://127.0.0.1:1',
    path: '/x',
    socketPath: '/x',
  } as object
  assert.equal((await fetch(url, foreign)).status, 200)
  assert.equal((await fetch(new Request(url, foreign))).status, 200)
})

test('an answer beyond the cap fails the stream and closes the connection; one within it passes', async (t) => {
  const { egress, server, url } = await openServer(t, (req, res) => {
    if (req.url === '/exact') return res.setHeader('connection', 'close').end('x'.repeat(1_000))
    const timer = setInterval(() => res.write('x'.repeat(500)), 1)
    res.on('close', () => clearInterval(timer))
  })
  const fetch = egress.fetchWithin({ timeoutMs: 5_000, maxAnswerBytes: 1_000 })
  assert.equal((await (await fetch(`${url}exact`)).text()).length, 1_000)
  await assert.rejects((await fetch(url)).text(), {
    name: 'EgressError',
    reason: 'protocol',
    message: 'The answer has more than 1000 bytes.',
  })
  await untilIdle(server)
})

test('the deadline ends a stream that is read, one that nobody reads, and one that has not begun', async (t) => {
  const { egress, server, url } = await openServer(t, (req, res) => {
    if (req.url === '/silent') return
    const timer = setInterval(() => res.write('x'), 10)
    res.on('close', () => clearInterval(timer))
  })
  const fetch = egress.fetchWithin({ timeoutMs: 200, maxAnswerBytes: 1_000_000 })
  const now = startLoopClock(t)
  const start = now()
  await assert.rejects(fetch(`${url}silent`), { reason: 'timeout' })
  await assert.rejects((await fetch(url)).text(), { reason: 'timeout' })
  await fetch(url)
  await untilIdle(server)
  assert.ok(now() - start < 3_000)
})

test('cancelling the body, or aborting, closes the connection, and an abort comes back as its own reason', async (t) => {
  const { fetch, server, url } = await openServer(t, (_req, res) => void res.write('x'))
  await (await fetch(url)).body!.cancel()
  await untilIdle(server)
  const caller = new AbortController()
  const response = await fetch(url, { signal: caller.signal })
  const reason = new Error('stopped')
  caller.abort(reason)
  await assert.rejects(response.text(), reason)
  await assert.rejects(fetch(url, { signal: caller.signal }), reason)
  await assert.rejects(fetch(new Request(url, { signal: AbortSignal.abort(reason) })), reason)
  await untilIdle(server)
})

test('answers without a body, and many in a row, leave the connection in use', async (t) => {
  let connections = 0
  const { fetch, server, url } = await openServer(t, (req, res) => {
    res.writeHead(req.method === 'HEAD' ? 200 : Number(req.url!.slice(1)), { 'x-a': '1' }).end()
  })
  server.on('connection', () => connections++)
  for (const status of [204, 205, 304, 204, 304]) {
    const response = await fetch(url + status)
    assert.deepEqual([response.status, response.body, response.headers.get('x-a')], [status, null, '1'])
    await new Promise(setImmediate)
  }
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  assert.ok(connections <= 3, `${connections} connections`)
})

test('an answer that a Response cannot hold, and one that is compressed unasked, are protocol errors', async (t) => {
  const bomb = gzipSync(Buffer.alloc(1_000_000)).toString('latin1')
  const heads = [
    'HTTP/1.1 799 Odd\r\ncontent-length: 9\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\ncontent-encoding: br\r\n\r\nx',
    `HTTP/1.1 200 OK\r\ncontent-length: ${bomb.length + 1}\r\ncontent-encoding: gzip\r\n\r\n${bomb}`,
  ]
  for (const answer of heads) {
    const server = await startRawServer(answering(answer), { host: '127.0.0.1' })
    t.after(() => server.close())
    const request = openTestEgress(t, { mode: 'loopback' }).fetch(`http://127.0.0.1:${server.port}/`)
    await assert.rejects(request, { name: 'EgressError', reason: 'protocol' }, answer.slice(0, 60))
    await server.untilOpen(0)
  }
})

async function untilIdle(server: ReturnType<typeof createServer>): Promise<void> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const open = await new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
    if (open === 0) return
    assert.ok(Date.now() < deadline, `${open} connections are still open`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
