import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type ClientRequest } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { answerClientError } from '#gateway/harden.ts'
import { pacedBody, type Pace } from './paced-body.ts'

const serverTimeoutMs = 300
const publicUrl = 'https://atrium.example'

/**
 * A server with a time limit of 300 ms per request and one route with its own limit. Returns the result for each body.
 */
async function open(t: TestContext, pace: Omit<Pace, 'publicUrl'>) {
  const outcomes: (number | string)[] = []
  const server = createServer({ requestTimeout: serverTimeoutMs, connectionsCheckingInterval: 50 }, async (req, res) => {
    if (req.url !== '/slow') {
      req.resume().once('end', () => {
        outcomes.push('fast')
        res.end('fast')
      })
      return
    }
    let bytes = 0
    try {
      for await (const chunk of pacedBody(req, 'req_test', { ...pace, publicUrl })) bytes += chunk.length
      outcomes.push(bytes)
      res.end(String(bytes))
    } catch (error) {
      outcomes.push((error as { code: string }).code)
    }
  })
  server.on('clientError', (error, socket) => answerClientError(publicUrl, error, socket as Socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const connections = promisify(server.getConnections.bind(server))
  return { outcomes, connections, port: (server.address() as AddressInfo).port }
}

function put(port: number, path: string, length: number): { req: ClientRequest; answer: Promise<number> } {
  const req = request({ port, host: '127.0.0.1', path, method: 'PUT', agent: false, headers: { 'content-length': length } })
  req.flushHeaders()
  const answer = new Promise<number>((resolve, reject) => {
    req.once('response', (res) => resolve(res.resume().statusCode!)).once('error', reject)
  })
  return { req, answer }
}

/** Sends the bytes one by one with pauses. */
async function dribble(req: ClientRequest, bytes: number, intervalMs: number): Promise<void> {
  for (let i = 0; i < bytes && !req.destroyed; i++) {
    req.write('x')
    await delay(intervalMs)
  }
  req.end()
}

test('a body that keeps arriving may take longer than the time limit of requests', async (t) => {
  const { outcomes, port } = await open(t, { idleMs: 10_000, totalMs: 30_000 })
  const { req, answer } = put(port, '/slow', 12)
  await dribble(req, 12, 100)
  assert.equal(await answer, 200)
  assert.deepEqual(outcomes, [12])
})

test('other routes keep the time limit of the server', async (t) => {
  const { port } = await open(t, { idleMs: 1_000, totalMs: 10_000 })
  const { req, answer } = put(port, '/fast', 12)
  void dribble(req, 12, 100)
  assert.equal(await answer, 408)
})

test('after 408 the rest of a body is not taken, so a request that was refused is not carried out', async (t) => {
  const { outcomes, port, connections } = await open(t, { idleMs: 1_000, totalMs: 10_000 })
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
  socket.on('error', () => undefined)
  socket.write('PUT /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx')
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 408 /)
  socket.end('x')
  for (const until = Date.now() + 5_000; (await connections()) > 0 && Date.now() < until;) await delay(10)
  assert.deepEqual([await connections(), outcomes], [0, []])
})

test('later requests on the same connection keep the time limit of the server', async (t) => {
  const { port } = await open(t, { idleMs: 10_000, totalMs: 30_000 })
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  const says = async (pattern: RegExp) => {
    for (const until = Date.now() + 5_000; !pattern.test(text) && Date.now() < until;) await delay(10)
    assert.match(text, pattern)
  }
  socket.write('PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx')
  await delay(2 * serverTimeoutMs)
  socket.write('x')
  await says(/^HTTP\/1.1 200 OK/)
  socket.write('PUT /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx')
  await says(/HTTP\/1.1 408 /)
  socket.destroy()
})

for (const [name, pace] of [
  ['a body that stops coming', { idleMs: 400, totalMs: 10_000 }],
  ['a body that would take too long in all', { idleMs: 5_000, totalMs: 400 }],
] as const) {
  test(`${name} is answered 408 and ended`, async (t) => {
    const { outcomes, port } = await open(t, pace)
    const { req, answer } = put(port, '/slow', 12)
    req.write('x')
    assert.equal(await answer, 408)
    assert.deepEqual(outcomes, ['request_timeout'])
  })
}

test('a truncated body is distinguished from a complete one', async (t) => {
  const { outcomes, port } = await open(t, { idleMs: 5_000, totalMs: 10_000 })
  const { req, answer } = put(port, '/slow', 12)
  answer.catch(() => undefined)
  req.write('x', () => req.destroy())
  for (const until = Date.now() + 5_000; outcomes.length === 0 && Date.now() < until;) await delay(10)
  assert.deepEqual(outcomes, ['invalid_request'])
})
