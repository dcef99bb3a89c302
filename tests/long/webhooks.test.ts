import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { openDatabase, type Database, type Tx } from '../../packages/server/src/db/database.ts'
import { addItems, type NewItem } from '../../packages/server/src/features/items/store.ts'
import { newId } from '../../packages/server/src/crypto/random.ts'
import { startHookServer, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type TestTenant } from '../support/call-api.ts'
import { childPids } from '../support/worker-pids.ts'

const eventsEach = 500
const kills = 5

let database: TestDatabase
let db: Database
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  db = openDatabase({ url: database.url, maxConnections: 10, onConnectionError: () => undefined })
  atrium = await start()
})
after(async () => {
  await atrium.end('SIGKILL')
  await db.close()
  await database.drop()
})

const start = () => startAtrium({ databaseUrl: database.url, env: { ATRIUM_EGRESS: 'loopback' } })

/**
 * Kills the API and the worker together, because the worker would end in order if it noticed the end of its parent.
 */
async function kill(): Promise<void> {
  for (const pid of childPids(atrium.pid, 'job-worker-main.ts')) process.kill(pid, 'SIGKILL')
  await atrium.end('SIGKILL')
}

interface Endpoint {
  kind: 'good' | 'hangs' | 'answers 500'
  tenant: TestTenant
  collection: string
  server: HookServer
  secret: string
}

async function makeEndpoint(t: TestContext, kind: Endpoint['kind']): Promise<Endpoint> {
  const { origin } = atrium
  const server = await startHookServer(kind === 'good' ? 204 : kind === 'hangs' ? 'hang' : 500)
  t.after(() => server.close())
  const tenant = await makeTenant(origin)
  const { id: collection } = await makeCollection(origin, tenant.secret)
  const { data } = await askGood(origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: server.url } })
  return { kind, tenant, collection, server, secret: (data as unknown as { secret: string }).secret }
}

/** Adds that many items in batches, some of which roll back and run again. */
async function fill({ tenant, collection }: Endpoint, count: number): Promise<void> {
  const rollBack = new Error('rolled back')
  for (let left = count; left > 0;) {
    const items = Array.from({ length: Math.min(left, 25) }, (): NewItem => {
      const author = null
      return {
        tenantId: tenant.id,
        collectionId: collection,
        id: newId('item'),
        type: 'a',
        content: '1',
        author,
        tokenHash: null,
        claim: undefined,
      }
    })
    const written = await db
      .transaction(async (tx: Tx) => {
        assert.ok((await addItems(tx, items)).every((outcome) => outcome === 'added'))
        if (Math.random() < 0.25) throw rollBack
        return items.length
      })
      .catch((error: unknown) => {
        if (error !== rollBack) throw error
        return 0
      })
    left -= written
  }
}

async function pullAll({ tenant }: Endpoint): Promise<{ id: string; type: string; sequence: number }[]> {
  const all: { id: string; type: string; sequence: number }[] = []
  for (;;) {
    const after = all.at(-1)?.sequence ?? 0
    const { data } = await askGood(atrium.origin, `GET /v1/events?limit=200&after=${after}`, { key: tenant.secret })
    const page = data as unknown as typeof all
    all.push(...page)
    if (page.length < 200) return all
  }
}

async function until(holds: () => boolean, withinMs: number): Promise<boolean> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await delay(20)) if (holds()) return true
  return holds()
}

test(`10,000 events to 20 endpoints, of which 5 hang and 5 answer 500, while the server is killed ${kills} times`, async (t) => {
  const kinds = Array.from({ length: 20 }, (_, n): Endpoint['kind'] => (['hangs', 'answers 500'] as const)[n % 4] ?? 'good')
  const endpoints = await Promise.all(kinds.map((kind) => makeEndpoint(t, kind)))
  const good = endpoints.filter(({ kind }) => kind === 'good')
  const arrivals = () => good.reduce((sum, { server }) => sum + server.hooks.length, 0)

  const filling = Promise.all(
    endpoints.map(async (endpoint) => {
      for (let part = 0; part < 10; part++) {
        await fill(endpoint, eventsEach / 10)
        await delay(1_500 * Math.random())
      }
    }),
  )
  const atKills: number[] = []
  for (let killed = 0; killed < kills; killed++) {
    const before = arrivals()
    await until(() => arrivals() >= before + 200, 6_000)
    await kill()
    atKills.push(arrivals())
    atrium = await start()
  }
  await filling
  const startedAt = Date.now()
  const seenBy = ({ server }: Endpoint) => new Set(server.hooks.map(({ event }) => event.sequence))
  await until(() => good.every((endpoint) => seenBy(endpoint).size >= eventsEach), 40_000)
  t.diagnostic(`${arrivals()} arrivals at good endpoints, at the kills ${atKills}; drained in ${Date.now() - startedAt} ms`)

  for (const endpoint of endpoints) {
    const events = await pullAll(endpoint)
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, i) => i + 1),
      'the sequence has no gap',
    )
    const added = events.filter(({ type }) => type === 'item.created')
    assert.equal(added.length, eventsEach)
    for (const { headers, text, event } of endpoint.server.hooks) {
      assert.deepEqual(new Webhook(endpoint.secret).verify(text, headers), event)
      assert.equal(events[event.sequence - 1]!.id, headers['webhook-id'])
    }
    if (endpoint.kind === 'good') {
      const seen = seenBy(endpoint)
      const missing = added.filter(({ sequence }) => !seen.has(sequence))
      assert.deepEqual(missing, [], 'a good endpoint gets each event')
    } else assert.ok(endpoint.server.hooks.length < 100, `${endpoint.kind}: ${endpoint.server.hooks.length} tries`)
  }
})

test("a killed worker's deliveries go again within 60 seconds", async (t) => {
  const endpoint = await makeEndpoint(t, 'hangs')
  await fill(endpoint, 1)
  assert.ok(await until(() => endpoint.server.hooks.length === 1, 5_000), 'it is under way')
  for (const pid of childPids(atrium.pid, 'job-worker-main.ts')) process.kill(pid, 'SIGKILL')
  const killedAt = Date.now()
  endpoint.server.reply = 204
  assert.ok(await until(() => endpoint.server.hooks.length === 2, 60_000), 'it comes again')
  t.diagnostic(`after ${Date.now() - killedAt} ms`)
  const [first, second] = endpoint.server.hooks
  assert.equal(second!.text, first!.text)
})

test('the server stops in order within 10 seconds while an endpoint hangs, and what was under way comes again', async (t) => {
  const endpoint = await makeEndpoint(t, 'hangs')
  await fill(endpoint, 1)
  assert.ok(await until(() => endpoint.server.hooks.length === 1, 5_000), 'it is under way')
  const startedAt = Date.now()
  assert.equal(await atrium.end('SIGTERM'), 0)
  assert.ok(Date.now() - startedAt < 10_000)
  endpoint.server.reply = 204
  atrium = await start()
  assert.ok(await until(() => endpoint.server.hooks.length === 2, 5_000), 'at once: its lease was given up')
  const listed = () => call(atrium.origin, 'GET /v1/tenant/webhooks/deliveries', { key: endpoint.tenant.secret })
  const one = await listed()
  assert.equal((one.data as unknown as { attempts: number }[])[0]!.attempts <= 1, true, 'an interrupted try is none')
})
