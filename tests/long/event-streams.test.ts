import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '../../packages/client/src/create-client.ts'
import { followStream } from '../../packages/client/src/follow-stream.ts'
import { pullEvents } from '../../packages/client/src/pull-events.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { openStream } from '../../packages/server/testing/read-stream.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, makeTenant } from '../support/call-api.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { residentBytes } from '../support/process-memory.ts'

const env = { ATRIUM_STREAMS_PER_ADDRESS: '5000', ATRIUM_STREAMS_PER_TENANT: '5000' }
const skip = process.platform !== 'linux' && 'memory is read from /proc'

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

async function world(t: TestContext) {
  const database = await createTestDatabase()
  const start = (port?: number) =>
    startAtrium({ databaseUrl: database.url, role: 'api', env, ...(port === undefined ? {} : { port }) })
  const processes = [await start()]
  t.after(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')))
    await database.drop()
  })
  const tenant = await makeTenant(processes[0]!.origin)
  return { processes, start, tenant }
}

async function makeWall({ origin }: AtriumProcess, key: string) {
  const body = { item_access: 'open', wall: true }
  const { data } = await askGood(origin, 'POST /v1/collections', { key, body })
  return { id: data.id, token: data.admin_token }
}

test('2,000 open streams add less than 150 MB', { skip, timeout: 240_000 }, async (t) => {
  const { processes, tenant } = await world(t)
  const [atrium] = processes as [AtriumProcess]
  const base = `${atrium.origin}/v1`
  const walls = await mapConcurrently(upTo(100), 8, () => makeWall(atrium, tenant.publishable))
  const add = (n: number) => {
    const wall = walls[n % walls.length]!
    const body = { type: 'm', content: n }
    return askGood(atrium.origin, `POST /v1/collections/${wall.id}/items`, { key: tenant.publishable, body })
  }
  await mapConcurrently(upTo(2_000), 16, add)
  const before = await residentBytes(atrium.pid)
  const open = await mapConcurrently(upTo(2_000), 32, (n) => {
    const { id, token } = walls[n % walls.length]!
    if (n % 4 === 0) return openStream(base, '/events/stream', { key: tenant.secret })
    if (n % 4 === 1) return openStream(base, `/collections/${id}/stream`, { key: tenant.publishable, collectionToken: token })
    if (n % 4 === 2) return openStream(base, `/collections/${id}/stream`, { key: tenant.publishable })
    return openStream(base, `/collections/${id}/wall/stream`)
  })
  t.after(() => open.forEach((one) => one.close()))
  assert.ok(open.every(({ status }) => status === 200))
  // With heartbeats and events on their way.
  let most = 0
  for (let n = 0; n < 300; n++) {
    await add(n)
    await delay(70)
    most = Math.max(most, await residentBytes(atrium.pid))
  }
  const addedMb = (most - before) / 1e6
  t.diagnostic(`${Math.round(before / 1e6)} MB before, at the most ${Math.round(addedMb)} MB more`)
  assert.ok(addedMb < 150, `${addedMb} MB`)
})

test('a new item reaches 500 viewers of a wall with 5,000 items in under a second (p99)', { timeout: 240_000 }, async (t) => {
  const { processes, tenant } = await world(t)
  const [atrium] = processes as [AtriumProcess]
  const { id } = await makeWall(atrium, tenant.publishable)
  const add = (content: unknown) =>
    askGood(atrium.origin, `POST /v1/collections/${id}/items`, { key: tenant.publishable, body: { type: 'm', content } })
  await mapConcurrently(upTo(5_000), 16, add)
  const path = `/collections/${id}/wall/stream`
  const viewers = await mapConcurrently(upTo(500), 32, () => openStream(`${atrium.origin}/v1`, path))
  t.after(() => viewers.forEach((viewer) => viewer.close()))
  await Promise.all(viewers.map((viewer) => viewer.untilCount(1)))
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    const startedAt = performance.now()
    const arrivals = viewers.map(async (viewer) => {
      await viewer.untilCount(n + 2)
      times.push(performance.now() - startedAt)
    })
    await Promise.all([add({ n }), ...arrivals])
    await delay(50)
  }
  for (const viewer of viewers)
    assert.deepEqual(
      viewer.messages.slice(1).map(({ data }) => data.content.n),
      upTo(100),
    )
  times.sort((a, b) => a - b)
  const [p50, p99, most] = [0.5, 0.99, 1].map((part) => Math.round(times[Math.ceil(times.length * part) - 1]!))
  t.diagnostic(`${times.length} arrivals: p50 ${p50} ms, p99 ${p99} ms, at the most ${most} ms`)
  assert.ok(p99! < 1_000, `${p99} ms`)
})

test('10,000 events, 20 clients and 5 kills of two processes: no gap, no repeat', { timeout: 540_000 }, async (t) => {
  const { processes, start, tenant } = await world(t)
  processes.push(await start())
  const { id, token } = await makeWall(processes[0]!, tenant.secret)
  const clientsOf = (key: string) => processes.map(({ origin }) => createClient({ baseUrl: origin, key }))
  const stop = new AbortController()
  const failed = (error: unknown) => {
    stop.abort()
    throw error
  }
  const readers = Array.from({ length: 20 }, (_, n) => {
    const seen: string[] = []
    const ready = Promise.withResolvers<void>()
    const server = clientsOf(tenant.secret)[n % 2]!
    const visitor = clientsOf(tenant.publishable)[n % 2]!
    const { signal } = stop
    const events = () => followStream(server.streamEvents, { signal })
    const owned = () => followStream(visitor.streamCollection, { id, collectionToken: token, signal })
    const wall = () => followStream(visitor.streamWall, { id, signal })
    const read = async () => {
      for await (const { event, data } of [events, owned, wall][n % 3]!()) {
        if (event === 'ready') ready.resolve()
        else if (event === 'item') seen.push(data.id)
        else if (event === 'item.created') seen.push(data.data.item_id)
        else throw new Error(`unexpected ${event}`)
      }
    }
    return { seen, ready: ready.promise, done: read().catch(failed) }
  })
  await Promise.all(readers.map(({ ready }) => ready))

  const count = 10_000
  let added = 0
  const writers = processes.map(({ origin }) => createClient({ baseUrl: origin, key: tenant.publishable, retries: 0 }))
  // While one process is down, the other adds items. An add whose answer is lost is repeated with its key.
  const writing = mapConcurrently(upTo(count), 16, async (content) => {
    const input = { id, idempotencyKey: randomUUID(), body: { type: 'm', content } }
    for (let tries = added; ; tries++) {
      stop.signal.throwIfAborted()
      const done = await writers[tries % 2]!.addItem(input).catch(() => undefined)
      if (done) return void added++
      await delay(20)
    }
  })
  const killing = async () => {
    for (let kill = 1; kill <= 5; kill++) {
      while (added < (count * kill) / 6) await delay(20, undefined, { signal: stop.signal })
      const killed = processes[kill % 2]!
      await killed.end('SIGKILL')
      await delay(500)
      processes[kill % 2] = await start(Number(new URL(killed.origin).port))
    }
  }
  // If a reader or a restart fails, the writers end too.
  await Promise.all([writing, killing().catch(failed)])
  const deadline = Date.now() + 60_000
  while (readers.some(({ seen }) => seen.length < count) && Date.now() < deadline) await delay(50)
  stop.abort()
  await Promise.all(readers.map(({ done }) => done))

  const log: string[] = []
  const [server] = clientsOf(tenant.secret)
  for await (const event of pullEvents(server!.listEvents)) if (event.type === 'item.created') log.push(event.data.item_id)
  assert.equal(log.length, count)
  const faults = readers.flatMap(({ seen }, n) => {
    const repeated = seen.length - new Set(seen).size
    const missing = new Set(log).difference(new Set(seen)).size
    return isDeepStrictEqual(seen, log)
      ? []
      : [`reader ${n}: ${seen.length} of ${count}, ${repeated} repeated, ${missing} missing`]
  })
  assert.deepEqual(faults, [])
})
