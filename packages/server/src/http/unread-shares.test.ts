import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, mock, test } from 'node:test'
import { inPieces, pieceBytes, UnreadAnswers, unreadMs } from '@atrium/traffic/unread-answers'
import { UnreadShares } from './unread-shares.ts'

const bytes = 100
/** More than the kernel takes for a reader that does not read. */
const content = Buffer.alloc(48 * 1024 * 1024)
const slowMs = 5_000
/** Not 0: a connection that was never checked has that time. */
let nowMs = 1
let shares: UnreadShares
let server: Server
const sockets: Socket[] = []
/** The same connections in the server. */
let served: Socket[] = []

before(async () => {
  mock.method(performance, 'now', () => nowMs)
  server = createServer((req, res) => {
    const [reader = '', times = 1] = req.url!.split('*')
    const size = Number(times) * bytes
    const may = shares.mayHaveRoom(reader, size)
    const has = shares.makeRoom(reader, size)
    if (may !== has) return void res.writeHead(500).end()
    if (!has) return void res.writeHead(503).end()
    shares.add(reader, res, size, req.method === 'GET')
    served.push(req.socket)
    res.writeHead(200)
    inPieces(content).pipe(res)
  })
  new UnreadAnswers({ idleMs: Infinity, checkIntervalMs: 5 }).watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
beforeEach(() => {
  shares = new UnreadShares({ maxBytes: 16 * bytes, slowMs })
})
afterEach(() => {
  sockets.splice(0).forEach((socket) => socket.destroy())
  served = []
})
after(() => {
  mock.reset()
  server.close()
})

/** Asks, and does not read the answer. */
async function ask(reader: string, method = 'GET'): Promise<{ status: number; socket: Socket }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.write(`${method} ${reader} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return { status: Number(head.toString('latin1', 9, 12)), socket }
}

/** How many answers the reader gets until it is refused one. */
async function hoard(reader: string): Promise<number> {
  for (let count = 0; ; count++) {
    const { status } = await ask(reader)
    if (status === 503) return count
    assert.equal(status, 200)
  }
}

/** Time in which nobody reads what waits. */
async function pass(): Promise<void> {
  const open = served.filter((socket) => !socket.destroyed)
  do {
    nowMs += slowMs
    await new Promise((resolve) => setTimeout(resolve, 20))
  } while (open.some((socket) => unreadMs(socket) < slowMs))
}

test('a reader alone has half of the budget, and another one is answered at once', async () => {
  assert.equal(await hoard('/a'), 8)
  assert.equal((await ask('/b')).status, 200)
})

test('many readers who do not read keep answers from another one for seconds at most', async () => {
  for (let n = 0; n < 8; n++) await hoard(`/${n}`)
  assert.equal((await ask('/other')).status, 503)
  await pass()
  assert.equal(await hoard('/other'), 4)
})

test('a reader whose answers are slow is ended for others only down to what they have', async () => {
  assert.equal(await hoard('/a'), 8)
  await pass()
  // 4 fit beside those 8. 2 more, after which both have 6, take the place of slow ones.
  assert.equal(await hoard('/b'), 6)
  assert.equal(await hoard('/a'), 0)
})

test('readers of one answer each give way to another one when they are slow', async () => {
  for (let n = 0; n < 15; n++) assert.equal((await ask(`/${n}`)).status, 200)
  assert.equal((await ask('/other')).status, 503)
  await pass()
  assert.equal((await ask('/other')).status, 200)
})

test('what a reader gave back can be taken by others', async () => {
  await hoard('/a')
  for (const socket of sockets) socket.destroy()
  while (!shares.mayHaveRoom('/b', 8 * bytes)) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(await hoard('/b'), 8)
})

test('nobody is ended if the room would not be enough', async () => {
  for (let n = 0; n < 12; n++) assert.equal((await ask(`/${n}`)).status, 200)
  for (let n = 0; n < 2; n++) assert.equal((await ask('/many')).status, 200)
  await pass()
  assert.equal((await ask('/other*1.5')).status, 503)
  assert.equal(served.filter((socket) => socket.destroyed).length, 0)
})

test('who reads steadily is not ended for others', async () => {
  const readers = []
  for (let n = 0; n < 15; n++) readers.push((await ask(`/${n}`)).socket)
  await pass()
  const taken = (socket: Socket) => socket.bytesWritten - socket.writableLength
  for (const [n, socket] of served.entries()) {
    const before = taken(socket)
    readers[n]!.resume()
    while (taken(socket) - before < pieceBytes) await new Promise((resolve) => setTimeout(resolve, 1))
    readers[n]!.pause()
  }
  assert.equal((await ask('/other')).status, 503)
  assert.equal(served.filter((socket) => socket.destroyed).length, 0)
})

test('the answer to a reader of less than 32 KiB a second is ended for others', async () => {
  const readers = []
  for (let n = 0; n < 15; n++) readers.push((await ask(`/${n}`)).socket)
  // The first time, what the kernel took counts.
  for (let times = 0; times < 3; times++) {
    nowMs += slowMs
    shares.mayHaveRoom('/other', bytes)
    for (const [n, socket] of served.entries()) {
      const before = socket.bytesWritten - socket.writableLength
      readers[n]!.resume()
      while (socket.bytesWritten - socket.writableLength - before < pieceBytes)
        await new Promise((resolve) => setTimeout(resolve, 1))
      readers[n]!.pause()
    }
  }
  nowMs += slowMs
  assert.equal((await ask('/other')).status, 200)
})

test('where nothing is kept free, one reader has the whole budget until another one needs a part of it', async () => {
  shares = new UnreadShares({ maxBytes: 16 * bytes, slowMs, keepsFree: false })
  assert.equal(await hoard('/a'), 16)
  assert.equal((await ask('/b')).status, 503)
  await pass()
  assert.equal(await hoard('/b'), 8)
})

test('the answer to another method than GET is never ended', async () => {
  for (let n = 0; n < 15; n++) assert.equal((await ask(`/${n}`, 'POST')).status, 200)
  await pass()
  assert.equal((await ask('/other')).status, 503)
  assert.equal(served.filter((socket) => socket.destroyed).length, 0)
})
