import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant, NoAnswer, type Answer, type TestCollection } from '../support/call-api.ts'
import { queryDatabase } from '../support/query-database.ts'
import { workerPids } from '../support/worker-pids.ts'

/** A request under its Idempotency-Key, and the answer that its client received, if any. */
interface Order {
  route: string
  idempotencyKey: string
  body: object
  seen: Answer | undefined
}

interface Load {
  key: string
  collections: TestCollection[]
  orders: Order[]
}

const writers = 40

async function openLoad(origin: string): Promise<Load> {
  const { publishable: key } = await makeTenant(origin)
  const collections: TestCollection[] = []
  for (let i = 0; i < 4; i++) collections.push(await makeCollection(origin, key))
  return { key, collections, orders: [] }
}

/** One in ten creates a collection. The others add an item to one of the four collections. */
function newOrder({ collections, orders }: Load): Order {
  const mark = randomUUID()
  const isCollection = orders.length % 10 === 9
  const collection = collections[orders.length % collections.length]!
  const order: Order = {
    route: isCollection ? 'POST /v1/collections' : `POST /v1/collections/${collection.id}/items`,
    idempotencyKey: mark,
    body: isCollection ? { metadata: { mark } } : { type: 'message', content: { mark } },
    seen: undefined,
  }
  orders.push(order)
  return order
}

async function send(origin: string, { key }: Load, order: Order): Promise<Answer> {
  const ask = () => call(origin, order.route, { key, idempotencyKey: order.idempotencyKey, body: order.body })
  let answer = await ask()
  // While a process is replaced, a busy machine may answer later than the deadline of a write. A client repeats it.
  for (let tries = 1; answer.status === 503 && tries < 4; tries++) {
    await delay(Number(answer.headers['retry-after']) * 1_000)
    answer = await ask()
  }
  assert.equal(answer.status, 201, answer.text)
  if (order.seen)
    assert.deepEqual([answer.status, answer.text], [order.seen.status, order.seen.text], 'a replay is what was seen')
  return answer
}

/** Many clients send orders without a pause. Each continues after a failure until it is stopped. */
function startWriting(t: TestContext, origin: string, load: Load): { stop(): Promise<number> } {
  let stopped = false
  // If the test fails before it stops them, they end with it.
  t.after(() => {
    stopped = true
  })
  let failures = 0
  const write = async () => {
    while (!stopped) {
      const order = newOrder(load)
      try {
        order.seen = await send(origin, load, order)
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        failures++
        await delay(20)
      }
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, write))
  return {
    stop: async () => {
      stopped = true
      await writing
      return failures
    },
  }
}

async function retryAll(origin: string, load: Load): Promise<{ replayed: number }> {
  let replayed = 0
  const waiting = [...load.orders]
  const retry = async () => {
    for (let order = waiting.pop(); order; order = waiting.pop()) {
      const answer = await send(origin, load, order)
      if (order.seen) assert.equal(answer.headers['idempotency-status'], 'replayed')
      if (answer.headers['idempotency-status'] === 'replayed') replayed++
      order.seen = answer
    }
  }
  await Promise.all(Array.from({ length: writers }, retry))
  return { replayed }
}

/** Checks through the API that every order took effect exactly once, and that nothing else exists. */
async function assertStored(origin: string, load: Load, databaseUrl: string): Promise<void> {
  for (const { id, token } of load.collections) {
    const expected = load.orders
      .filter(({ route }) => route.includes(id))
      .map((order) => (order.body as { content: { mark: string } }).content.mark)
    const { marks, ids } = await readItems(origin, load.key, id, token)
    assert.deepEqual(marks.toSorted(), expected.toSorted(), 'every item once')
    const seen = load.orders.filter(({ route }) => route.includes(id)).map((order) => order.seen!.data.id)
    assert.deepEqual(ids.toSorted(), seen.toSorted(), 'under the ids that were answered')
    const { data } = await call(origin, `GET /v1/collections/${id}`, { key: load.key })
    assert.equal(data.item_count, expected.length, 'item_count counts them')
  }
  const collections = load.orders.filter(({ route }) => route === 'POST /v1/collections')
  for (const { seen } of collections.slice(-20)) {
    const listed = await call(origin, `GET /v1/collections/${seen!.data.id}/items`, {
      key: load.key,
      token: seen!.data.admin_token,
    })
    assert.equal(listed.status, 200, 'the token that was answered opens the collection')
  }
  const [row] = await queryDatabase<{ count: number }>(
    databaseUrl,
    `select count(*)::integer from collections where metadata->>'mark' is not null`,
  )
  assert.equal(row!.count, collections.length, 'every collection once')
  const gaps = await queryDatabase(
    databaseUrl,
    `select c.id from collections c left join items i on i.tenant_id = c.tenant_id and i.collection_id = c.id
     group by c.tenant_id, c.id, c.last_seq having count(i) <> c.last_seq or coalesce(max(i.seq), 0) <> c.last_seq`,
  )
  assert.deepEqual(gaps, [], 'seq has no gaps')
}

async function readItems(origin: string, key: string, id: string, token: string): Promise<{ marks: string[]; ids: string[] }> {
  const marks: string[] = []
  const ids: string[] = []
  for (let cursor = ''; ;) {
    const page = await call(origin, `GET /v1/collections/${id}/items?limit=200${cursor}`, { key, token })
    for (const item of page.data.items) {
      marks.push(item.content['mark'] as string)
      ids.push(item.id)
    }
    const next = (JSON.parse(page.text) as { meta?: { next_cursor?: string } }).meta?.next_cursor
    if (!next) return { marks, ids }
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
}

async function open(
  t: TestContext,
  args: string[] = [],
): Promise<{ database: TestDatabase; start: () => Promise<AtriumProcess> }> {
  const database = await createTestDatabase()
  const port = await freePort()
  let atrium: AtriumProcess | undefined
  t.after(async () => {
    await atrium?.end('SIGKILL')
    await database.drop()
  })
  return { database, start: async () => (atrium = await startAtrium({ databaseUrl: database.url, port, args })) }
}

test('kill -9 under load loses no acknowledged answer and doubles none', async (t) => {
  const { database, start } = await open(t)
  let atrium = await start()
  const load = await openLoad(atrium.origin)
  let unsure = 0
  for (let round = 0; round < 3; round++) {
    const writing = startWriting(t, atrium.origin, load)
    await delay(randomInt(200, 500))
    await atrium.end('SIGKILL')
    assert.ok((await writing.stop()) > 0, 'the kill hit requests')
    const seen = load.orders.filter((order) => order.seen).length
    atrium = await start()
    const { replayed } = await retryAll(atrium.origin, load)
    assert.ok(replayed >= seen)
    unsure += replayed - seen
    await assertStored(atrium.origin, load, database.url)
  }
  t.diagnostic(`${load.orders.length} orders; ${unsure} were done although their answer was lost`)
})

test('when one of two API processes is killed, the service continues and the process is replaced', async (t) => {
  const { database, start } = await open(t, ['--workers', '2'])
  const atrium = await start()
  const load = await openLoad(atrium.origin)
  const before = workerPids(atrium.pid)
  assert.equal(before.length, 2)
  const writing = startWriting(t, atrium.origin, load)
  await delay(300)
  process.kill(before[0]!, 'SIGKILL')
  const killedAt = load.orders.length
  const isBack = (pids: number[]) => pids.length === 2 && !pids.includes(before[0]!)
  const isAnswered = () => load.orders.slice(killedAt).some((order) => order.seen)
  for (let waitedMs = 0; !isBack(workerPids(atrium.pid)) || !isAnswered(); waitedMs += 50) {
    assert.ok(waitedMs < 30_000, isAnswered() ? 'the process is replaced' : 'the other worker answers')
    await delay(50)
  }
  await delay(1_000)
  assert.ok(workerPids(atrium.pid).includes(before[1]!), 'the other one was left alone')
  const failures = await writing.stop()
  assert.ok(failures > 0 && failures <= 2 * writers, `only what the dead one held failed: ${failures}`)
  await retryAll(atrium.origin, load)
  await assertStored(atrium.origin, load, database.url)
  t.diagnostic(`${load.orders.length} orders, ${failures} lost their connection`)
})
