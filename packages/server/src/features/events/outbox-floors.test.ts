import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '#db/database.ts'
import { assertGapless, pullEvents } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { numberFreeEvents } from './numbering-store.ts'
import { OutboxFloors } from './outbox-floors.ts'
import { recordEvent } from './record-event.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const collection_id = 'col_4fRzK0vXcB1mQwErTy7uPa'

/** Writes an event in a transaction that ends when `until` does. Resolves when it is committed. */
const write = (tenant: TestTenant, item_id: string, until?: Promise<unknown>) =>
  api.ctx.db.transaction(async (tx) => {
    await recordEvent(tx, tenant.id, 'item.deleted', { collection_id, item_id })
    await until
  })

/** Writes events in a transaction that stays open. Returns a function that ends it. */
async function writeAndStay(tenant: TestTenant, items: string[]): Promise<() => Promise<void>> {
  const [written, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = api.ctx.db.transaction(async (tx) => {
    for (const item_id of items) await recordEvent(tx, tenant.id, 'item.deleted', { collection_id, item_id })
    written.resolve()
    await held.promise
  })
  await Promise.race([written.promise, done])
  return async () => {
    held.resolve()
    await done
  }
}

const numberAbove = (floors: OutboxFloors, tenant: TestTenant, maxEach = 500) =>
  numberFreeEvents(api.ctx.db, [tenant.id], maxEach, { isSpread: false, floors })

/** Writes and numbers until the floor is above `from`. Transactions of other tests on the server may hold it up. */
async function raise(floors: OutboxFloors, tenant: TestTenant, from: number): Promise<number> {
  for (let tries = 0; tries < 300 && floors.of(tenant.id) <= from; tries++) {
    await write(tenant, 'another')
    await numberAbove(floors, tenant)
    if (tries > 10) await delay(100)
  }
  return floors.of(tenant.id)
}

async function waitingOf(tenant: TestTenant): Promise<number> {
  const { rowCount } = await api.ctx.db.pool.query('select from event_outbox where tenant_id = $1', [tenant.id])
  return rowCount ?? 0
}

const itemsOf = async (tenant: TestTenant) =>
  (await pullEvents(api, tenant)).filter(({ type }) => type === 'item.deleted').map(({ data }) => data['item_id'])

test('an event whose transaction began before others and ends after them is above the floor', async () => {
  const tenant = await api.makeTenant()
  const floors = new OutboxFloors()
  await write(tenant, 'first')
  const end = await writeAndStay(tenant, ['late'])
  for (const item of ['a', 'b', 'c']) {
    await write(tenant, item)
    await numberAbove(floors, tenant)
  }
  await end()
  await write(tenant, 'after')
  await numberAbove(floors, tenant)
  assert.equal(await waitingOf(tenant), 0)
  assert.deepEqual(await itemsOf(tenant), ['first', 'a', 'b', 'c', 'late', 'after'])
})

test('the floor follows what is numbered, also while a long read keeps the deleted rows', async () => {
  const tenant = await api.makeTenant()
  const floors = new OutboxFloors()
  const reader = await api.ctx.db.pool.connect()
  try {
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from event_outbox')
    const first = await raise(floors, tenant, 0)
    assert.ok((await raise(floors, tenant, first)) > first)
  } finally {
    await reader.query('rollback')
    reader.release()
  }
})

test('a floor never passes late events that did not fit into the part', async () => {
  const tenant = await api.makeTenant()
  const floors = new OutboxFloors()
  const items = Array.from({ length: 60 }, (_, n) => `${n}`)
  const end = await writeAndStay(tenant, items)
  await write(tenant, 'early')
  await numberAbove(floors, tenant)
  await end()
  while ((await numberAbove(floors, tenant, 3)) >= 3);
  assert.equal(await waitingOf(tenant), 0)
  assert.deepEqual(await itemsOf(tenant), ['early', ...items])
})

/** The buffers that a numbering of all events above the floor touches: to read them, and to number them. */
async function measure(floors: OutboxFloors, tenant: TestTenant): Promise<{ read: number; number: number }> {
  const { db } = api.ctx
  const buffers = new Map<string, number>()
  const explaining: Database = {
    ...db,
    query: async (statement, values) => {
      const explained = `explain (analyze, buffers, format json) ${statement.text}`
      const { rows } = await db.pool.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(explained, values)
      const plan = rows[0]!['QUERY PLAN'][0]!.Plan
      buffers.set(statement.name, plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!)
      // Nothing is left to be numbered when the call is repeated.
      return statement.name === 'events-outbox' ? db.query(statement, values) : []
    },
  }
  await numberFreeEvents(explaining, [tenant.id], 500, { isSpread: false, floors })
  return { read: buffers.get('events-outbox') ?? 0, number: buffers.get('events-number') ?? 0 }
}

test('numbering passes no events that were numbered before, while a long read keeps them and the outbox looked empty', async () => {
  const tenant = await api.makeTenant()
  const { pool } = api.ctx.db
  const floors = new OutboxFloors()
  const writeMany = (from: number, count: number) =>
    pool.query(
      `insert into event_outbox (tenant_id, id, type, data)
       select $1, 'evt_' || lpad(n::text, 22, '0'), 'item.deleted', $4 from generate_series($2::int, $2::int + $3 - 1) n`,
      [tenant.id, from, count, JSON.stringify({ wide: 'x'.repeat(1_000) })],
    )
  const reader = await pool.connect()
  try {
    await reader.query('set idle_in_transaction_session_timeout = 0')
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from event_outbox')
    await writeMany(0, 100)
    const first = await measure(floors, tenant)
    for (let n = 0; n < 40; n++) {
      await writeMany(1_000 + n * 500, 500)
      await numberAbove(floors, tenant, 500)
    }
    await raise(floors, tenant, floors.of(tenant.id))
    await raise(floors, tenant, floors.of(tenant.id))
    await pool.query('vacuum analyze event_outbox')
    await writeMany(100, 100)
    const last = await measure(floors, tenant)
    assert.ok(last.read < first.read + 100, `read: ${first.read}, then ${last.read} buffers`)
    assert.ok(last.number < first.number + 700, `number: ${first.number}, then ${last.number} buffers`)
    assert.equal(await waitingOf(tenant), 0)
  } finally {
    await reader.query('rollback')
    reader.release()
  }
})

test('30 writers whose transactions overlap: everything is numbered above the floors, each writer in its own order', async () => {
  const tenant = await api.makeTenant()
  const floors = new OutboxFloors()
  let isWriting = true
  const numbering = (async () => {
    while (isWriting) await numberAbove(floors, tenant, 20)
  })()
  const writer = async (name: number) => {
    for (let n = 0; n < 25; n++) await write(tenant, `${name}.${n}`, delay(Math.random() ** 4 * 60))
  }
  await Promise.all(Array.from({ length: 30 }, (_, name) => writer(name)))
  isWriting = false
  await numbering
  while ((await numberAbove(floors, tenant, 20)) >= 20);
  assert.equal(await waitingOf(tenant), 0, 'without a read from the beginning')
  const items = await itemsOf(tenant)
  assert.equal(items.length, 30 * 25)
  for (let name = 0; name < 30; name++) {
    const own = items.filter((item) => String(item).startsWith(`${name}.`))
    assert.deepEqual(
      own,
      own.map((_, n) => `${name}.${n}`),
    )
  }
  assertGapless(await pullEvents(api, tenant))
})
