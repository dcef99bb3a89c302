import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fastify from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { ExportSlots } from './export-slots.ts'
import { sendStream } from './send-stream.ts'

/** A server whose answers never end. Returns a function that opens one for a tenant, and resolves to the first bytes. */
async function serve(t: TestContext, slots: ExportSlots) {
  const app = fastify()
  const piecesOf = new Map<string, number>()
  async function* endless(tenant: string) {
    for (let pieces = 0; ; pieces++) {
      piecesOf.set(tenant, pieces)
      yield Buffer.alloc(1024 * 1024)
    }
  }
  app.get('/:tenant', async (req, reply) => {
    const { tenant } = req.params as { tenant: string }
    await slots.run(tenant, req, async (terms) => {
      reply.hijack()
      reply.raw.writeHead(200)
      await sendStream(reply.raw, Readable.from(endless(tenant), { highWaterMark: 1 }), terms)
    })
    return reply
  })
  app.setErrorHandler((error, _req, reply) => reply.code(error instanceof ApiError ? error.status : 500).send())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await app.close()
  })
  /** Until the reader of the tenant has taken so many more pieces, of 1 MiB. */
  const taken = async (tenant: string, pieces: number) => {
    const end = piecesOf.get(tenant)! + pieces
    while (piecesOf.get(tenant)! < end) await new Promise((resolve) => setImmediate(resolve))
  }
  const open = async (tenant: string, isPipelined = false) => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => undefined)
    const request = `GET /${tenant} HTTP/1.1\r\nHost: a\r\n\r\n`
    socket.write(isPipelined ? request.repeat(2) : request)
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    return { status: Number(head.toString().slice(9, 12)), socket, closed }
  }
  return { open, taken }
}

// What does not come to an end is a fault.
const endsSoon = { timeout: 60_000 }

test(
  'while all slots are taken, a slow reader loses its slot to a tenant that has none, and a fast one keeps its slot',
  endsSoon,
  async (t) => {
    // The clock of the readers stands still, but for the steps in which the fast one takes much.
    let ms = 0
    t.mock.method(performance, 'now', () => ms)
    const times = { pauseMs: 30_000, windowMs: 400 }
    const { open, taken } = await serve(t, new ExportSlots({ slots: 2, slotsPerTenant: 1 }, times))
    const fast = await open('a')
    fast.socket.resume()
    const slow = await open('b')
    assert.deepEqual([fast.status, slow.status], [200, 200])
    assert.deepEqual([(await open('c')).status, (await open('b')).status], [429, 429], 'too early to tell')
    // The first ones fill what the system buffers for the slow one.
    await taken('a', 20)
    for (let step = 0; step < 12; step++) {
      ms += 50
      await taken('a', 2)
    }
    assert.equal((await open('b')).status, 429, 'it has a slot')
    assert.equal((await open('c')).status, 200)
    // Its socket is read again, because only then does the end of the connection become visible.
    slow.socket.resume()
    await slow.closed
    assert.equal((await open('b')).status, 429, 'nobody else is slow')
    await taken('a', 20)
    assert.equal(fast.socket.destroyed, false)
  },
)

test(
  'a reader that takes nothing loses its slot, also if nobody waits for it or its answer waits behind another',
  endsSoon,
  async (t) => {
    const { open } = await serve(t, new ExportSlots({ slots: 8, slotsPerTenant: 2 }, { pauseMs: 300, windowMs: 60_000 }))
    assert.equal((await open('a')).status, 200)
    const behind = await open('b', true)
    behind.socket.resume()
    assert.equal(behind.status, 200)
    await behind.closed
    // These read, so each keeps its slot, and both slots of a tenant are free.
    for (const tenant of ['a', 'a', 'b', 'b']) {
      let status: number | undefined
      while (status !== 200) {
        const next = await open(tenant)
        next.socket.resume()
        status = next.status
        if (status !== 200) await delay(20)
      }
    }
  },
)

test('half of the slots is for tenants that have none, so that the fast readers of a few do not hold them all', async (t) => {
  const { open } = await serve(t, new ExportSlots({ slots: 4, slotsPerTenant: 2 }))
  const opened = async (...tenants: string[]) => {
    const statuses: number[] = []
    for (const tenant of tenants) {
      const { status, socket } = await open(tenant)
      socket.resume()
      statuses.push(status)
    }
    return statuses
  }
  assert.deepEqual(await opened('a', 'a', 'a'), [200, 200, 429])
  assert.deepEqual(await opened('b', 'b'), [200, 429])
  assert.deepEqual(await opened('c', 'd'), [200, 429])
})
