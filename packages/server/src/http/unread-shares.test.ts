import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, mock, test } from 'node:test'
import { inPieces } from '@atrium/traffic/unread-answers'
import { UnreadShares } from './unread-shares.ts'

const bytes = 100
/** More than the kernel takes for a reader that does not read. */
const content = Buffer.alloc(48 * 1024 * 1024)
const slowMs = 5_000
let nowMs = 0
let shares: UnreadShares
let server: Server
const sockets: Socket[] = []

before(async () => {
  mock.method(performance, 'now', () => nowMs)
  server = createServer((req, res) => {
    const reader = req.url!
    const may = shares.mayHaveRoom(reader, bytes)
    const has = shares.makeRoom(reader, bytes)
    if (may !== has) return void res.writeHead(500).end()
    if (!has) return void res.writeHead(503).end()
    shares.add(reader, res, bytes)
    res.writeHead(200)
    inPieces(content).pipe(res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
beforeEach(() => {
  shares = new UnreadShares({ maxBytes: 16 * bytes, slowMs })
})
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()))
after(() => {
  mock.reset()
  server.close()
})

/** Asks, and does not read the answer. */
async function ask(reader: string): Promise<{ status: number; socket: Socket }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.write(`GET ${reader} HTTP/1.1\r\nHost: x\r\n\r\n`)
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

test('a reader alone has half of the budget, and another one is answered at once', async () => {
  assert.equal(await hoard('/a'), 8)
  assert.equal((await ask('/b')).status, 200)
})

test('many readers who do not read keep answers from another one for seconds at most', async () => {
  for (let n = 0; n < 8; n++) await hoard(`/${n}`)
  assert.equal((await ask('/other')).status, 503)
  nowMs += slowMs
  assert.equal(await hoard('/other'), 4)
})

test('a reader whose answers are slow is ended for others only down to what they have', async () => {
  assert.equal(await hoard('/a'), 8)
  nowMs += slowMs
  // 4 fit beside those 8. 2 more, after which both have 6, take the place of slow ones.
  assert.equal(await hoard('/b'), 6)
  assert.equal(await hoard('/a'), 0)
})

test('readers of one answer each give way to another one when they are slow', async () => {
  for (let n = 0; n < 15; n++) assert.equal((await ask(`/${n}`)).status, 200)
  assert.equal((await ask('/other')).status, 503)
  nowMs += slowMs
  assert.equal((await ask('/other')).status, 200)
})

test('what a reader gave back can be taken by others', async () => {
  await hoard('/a')
  for (const socket of sockets) socket.destroy()
  while (!shares.mayHaveRoom('/b', 8 * bytes)) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(await hoard('/b'), 8)
})
