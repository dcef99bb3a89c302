import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { allowPause, inPieces, UnreadAnswers } from './unread-answers.ts'

const large = Buffer.alloc(24 * 1024 * 1024, 'x')
const idleMs = 1_000
const checkIntervalMs = 100
const maxBytes = 50 * 1024 * 1024
const unread = new UnreadAnswers({ maxBytes, idleMs, checkIntervalMs })
let server: Server
let answered: ServerResponse | undefined
before(async () => {
  server = createServer((req, res) => {
    // The last test has two at once.
    if (!unread.take(res, req.url === '/patient' ? 1 : large.length, req.headers.host!)) return void res.writeHead(503).end()
    answered = res
    if (req.url === '/patient') allowPause(res, 60_000)
    res.writeHead(200, { 'content-length': large.length })
    inPieces(large).pipe(res)
  })
  unread.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const limit = { timeout: 20_000 }

interface Asked {
  socket: Socket
  status: number
}

async function ask(path = '/'): Promise<Asked> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return { socket, status: Number(head.toString('latin1', 9, 12)) }
}

test('who does not read is cut off, also when they keep sending, and what they held is free again', limit, async () => {
  const startedAt = Date.now()
  // At once: on a slow machine, the first one could be cut off before the second one asks.
  const asked = await Promise.all([ask(), ask()])
  const [{ socket }, { socket: second }] = asked.toSorted((a, b) => a.status - b.status) as [Asked, Asked]
  assert.deepEqual(asked.map(({ status }) => status).toSorted(), [200, 503], 'there is no room for two')
  const held = answered!
  second.destroy()
  socket.write('GET / HTTP/1.1\r\nX: ')
  const sending = setInterval(() => socket.write('a'), 20)
  await once(held, 'close').finally(() => clearInterval(sending))
  socket.destroy()
  assert.ok(Date.now() - startedAt >= idleMs / 2, 'not at once')
  assert.ok(unread.hasRoom(Infinity, 'x'), 'nothing waits')
})

test('who reads slowly, but reads, gets everything', limit, async () => {
  const { socket } = await ask()
  const startedAt = Date.now()
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  socket.resume()
  // The head was read before.
  while (bytes < large.length - 64 * 1024) {
    assert.equal(socket.destroyed, false, `cut off after ${bytes} bytes`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.ok(Date.now() - startedAt > idleMs, 'it took longer than one may pause')
  socket.destroy()
})

test('where pauses are allowed, nobody is cut off for one', limit, async () => {
  const { socket } = await ask('/patient')
  const patient = answered!
  const { socket: impatient } = await ask()
  await once(answered!, 'close')
  assert.equal(patient.destroyed, false)
  socket.destroy()
  impatient.destroy()
})

test('a clock that is set forward cuts nobody off', limit, async (t) => {
  const { socket } = await ask('/patient')
  const held = answered!
  const pause = () => new Promise((resolve) => setTimeout(resolve, 200))
  await pause()
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 24 * 3_600_000 })
  await pause()
  assert.equal(held.destroyed, false)
  socket.destroy()
})

test('a process that did not run for a while cuts nobody off because of it', limit, async () => {
  const { socket } = await ask()
  await new Promise((resolve) => setTimeout(resolve, 2 * checkIntervalMs + 50))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, idleMs)
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  socket.resume()
  // The head was read before.
  while (bytes < large.length - 64 * 1024) {
    assert.equal(socket.destroyed, false, `cut off after ${bytes} bytes`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  socket.destroy()
})

test('an answer that waits behind another one is over when their connection is', limit, async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET /patient HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
  await once(socket, 'data')
  socket.pause()
  while (unread.hasRoom(maxBytes / 2 - 2, 'x')) await new Promise((resolve) => setTimeout(resolve, 5))
  socket.destroy()
  while (!unread.hasRoom(Infinity, 'x')) await new Promise((resolve) => setTimeout(resolve, 5))
})
