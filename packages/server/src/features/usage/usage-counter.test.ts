import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { setTimeout as delay } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { openDatabase, type Database } from '#db/database.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { openTenant } from '../tenants/open-tenant.ts'
import { listUsage } from './store.ts'
import { UsageCounter } from './usage-counter.ts'

let database: TestDatabase
let db: Database
let tenants: string[]
const open: UsageCounter[] = []

before(async () => {
  database = await createTestDatabase()
  db = openDatabase({ url: database.url, maxConnections: 8, onConnectionError: () => {} })
})
beforeEach(async () => {
  tenants = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const made = await db.transaction((tx) => openTenant(tx, { name: 'Test', email: null, roles: null }))
      return made.tenant.id
    }),
  )
})
after(async () => {
  await Promise.all(open.map((counter) => counter.close()))
  await db.close()
  await database.drop()
})

function openCounter({ on = db, at = '2026-11-20T12:00:00Z' } = {}) {
  const clock = { now: at }
  const registry = new Registry()
  const errors: unknown[] = []
  const counter = new UsageCounter({
    db: on,
    registry,
    onError: (error) => errors.push(error),
    now: () => Date.parse(clock.now),
  })
  open.push(counter)
  const metric = async (name: string) => (await registry.getSingleMetric(name)!.get()).values[0]!.value
  return { counter, clock, errors, metric }
}

/** The stored counts of one day, by meter. */
async function stored(tenantId: string, day = '2026-11-20'): Promise<Record<string, number>> {
  const counts = await listUsage(db, tenantId, day, day)
  return Object.fromEntries(counts.map(({ meter, quantity }) => [meter, quantity]))
}

/** Waits until a database session matches the condition, and returns its pid. */
async function sessionThat(condition: string): Promise<number> {
  const sql = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${condition}`
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(5)) {
    const { rows } = await db.pool.query<{ pid: number }>(sql)
    if (rows[0]) return rows[0].pid
  }
  throw new Error(`no session: ${condition}`)
}

test('concurrent counts of two processes on the same rows are all added, without a deadlock', async () => {
  const counters = [openCounter(), openCounter()]
  const rounds = 40
  const work = counters.map(async ({ counter }, which) => {
    // In opposite orders: rows locked in the order of counting would deadlock.
    const order = which === 0 ? tenants : tenants.toReversed()
    for (let i = 0; i < rounds; i++) {
      for (const tenant of order) counter.answered(tenant, 10)
      for (const tenant of order) counter.count(tenant, 'items', 2)
      await counter.flush()
    }
  })
  await Promise.all(work)
  assert.deepEqual([counters[0]!.errors, counters[1]!.errors], [[], []])
  for (const tenant of tenants) {
    assert.deepEqual(await stored(tenant), { requests: 2 * rounds, bytes: 20 * rounds, items: 4 * rounds })
  }
})

test('a flush whose connection ends loses nothing and counts nothing twice, and the metrics record it', async () => {
  const [tenant] = tenants as [string]
  // Its connection ends while it waits.
  const patient = openDatabase({ url: database.url, maxConnections: 1, onConnectionError: () => {} })
  await patient.pool.query(`set lock_timeout = '20s'`)
  const { counter, errors, metric } = openCounter({ on: patient })
  counter.count(tenant, 'items', 3)
  await counter.flush()
  const blocker = await db.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from usage_days where tenant_id = $1 for update', [tenant])
  counter.count(tenant, 'items', 4)
  const flushed = counter.flush()
  const pid = await sessionThat(`wait_event_type = 'Lock' and query like '%usage_days%'`)
  // Counted while the batch is being written.
  counter.count(tenant, 'items', 5)
  await db.pool.query('select pg_terminate_backend($1)', [pid])
  await flushed
  await blocker.query('rollback')
  blocker.release()
  assert.equal(errors.length, 1)
  assert.equal(await metric('atrium_usage_flush_failures_total'), 1)
  assert.deepEqual(await stored(tenant), { items: 3 })
  await counter.flush()
  assert.deepEqual(await stored(tenant), { items: 12 })
  await counter.flush()
  assert.deepEqual(await stored(tenant), { items: 12 })
  await counter.close()
  await patient.close()
})

test('while a row of one tenant is locked, the counts of all others are written; its own is added once, after the lock', async () => {
  const [tenant, ...others] = tenants as [string]
  const { counter } = openCounter()
  for (const id of tenants) counter.count(id, 'items', 1)
  await counter.flush()
  const blocker = await db.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from usage_days where tenant_id = $1 for update', [tenant])
  for (let round = 0; round < 2; round++) {
    for (const id of tenants) counter.count(id, 'items', 1)
    await counter.flush()
  }
  for (const id of others) assert.deepEqual(await stored(id), { items: 3 })
  assert.deepEqual(await stored(tenant), { items: 1 })
  await blocker.query('rollback')
  blocker.release()
  await counter.flush()
  for (const id of tenants) assert.deepEqual(await stored(id), { items: 3 })
})

test('a batch that was committed although its answer was lost is not added again', async () => {
  const [tenant] = tenants as [string]
  let losing = true
  const lossy: Database = {
    ...db,
    query: async (stmt, values) => {
      const rows = await db.query(stmt, values)
      if (losing && stmt.name === 'usage-add') throw new ConnectionLost('the answer is lost')
      return rows
    },
  }
  const { counter, errors } = openCounter({ on: lossy })
  counter.count(tenant, 'paints', 1)
  await counter.flush()
  assert.deepEqual(await stored(tenant), { paints: 1 })
  counter.count(tenant, 'paints', 1)
  await counter.flush()
  losing = false
  await counter.flush()
  assert.equal(errors.length, 2)
  assert.deepEqual(await stored(tenant), { paints: 2 })
})

test('a count around midnight UTC belongs to the day on which it was made', async () => {
  const [tenant] = tenants as [string]
  const { counter, clock } = openCounter({ at: '2026-11-20T23:59:59.999Z' })
  counter.answered(tenant, 100)
  clock.now = '2026-11-21T00:00:00.000Z'
  counter.answered(tenant, 10)
  // The clock is set back.
  clock.now = '2026-11-20T23:59:59.998Z'
  counter.answered(tenant, 1)
  await counter.flush()
  assert.deepEqual(await stored(tenant), { requests: 2, bytes: 101 })
  assert.deepEqual(await stored(tenant, '2026-11-21'), { requests: 1, bytes: 10 })
})

test('closing writes the counts, also if its first attempt fails', async () => {
  const [tenant] = tenants as [string]
  let attempts = 0
  const failsOnce: Database = {
    ...db,
    query: (stmt, values) =>
      ++attempts === 1 ? Promise.reject(new ConnectionLost('the answer is lost')) : db.query(stmt, values),
  }
  const { counter } = openCounter({ on: failsOnce })
  counter.count(tenant, 'launches', 1)
  await counter.close()
  assert.deepEqual(await stored(tenant), { launches: 1 })
})

test('counts are written within the documented five seconds, without a flush', async () => {
  const [tenant] = tenants as [string]
  const { counter } = openCounter()
  counter.answered(tenant, 1)
  const startedAt = performance.now()
  while (!(await stored(tenant))['requests']) {
    assert.ok(performance.now() - startedAt < 5_000)
    await delay(20)
  }
})

test('counts of many tenants are written early, and memory stays bounded while the database is unavailable', async () => {
  let calls = 0
  const away: Database = {
    ...db,
    query: () => {
      calls++
      return Promise.reject(new Error('connect ECONNREFUSED'))
    },
  }
  const { counter, metric } = openCounter({ on: away })
  for (let i = 0; i < 4_000; i++) counter.answered(`ten_${i}`, 1)
  assert.equal(calls, 0)
  await new Promise(setImmediate)
  assert.equal(calls, 1, 'it did not wait for its time')
  for (let i = 0; i < 20_100; i++) counter.answered(`ten_${i}`, 1)
  assert.equal(await metric('atrium_usage_dropped_total'), 100)
})

test('counts of an unknown tenant do not block those of others', async () => {
  const [tenant] = tenants as [string]
  const { counter, errors } = openCounter()
  counter.count('ten_nobody', 'items', 1)
  counter.count(tenant, 'items', 1)
  await counter.flush()
  assert.deepEqual(errors, [])
  assert.deepEqual(await stored(tenant), { items: 1 })
  assert.deepEqual(await stored('ten_nobody'), {})
})

test('sums stop at the largest exact integer, and an invalid quantity is refused', async () => {
  const [tenant] = tenants as [string]
  const { counter, errors } = openCounter()
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) counter.count(tenant, 'bytes', Number.MAX_SAFE_INTEGER)
    await counter.flush()
    assert.deepEqual(await stored(tenant), { bytes: Number.MAX_SAFE_INTEGER })
  }
  assert.deepEqual(errors, [])
  for (const wrong of [Number.NaN, -1, 0.5, 2 ** 53]) assert.throws(() => counter.count(tenant, 'bytes', wrong))
})

test('rows of stopped processes are deleted when another process first writes', async () => {
  const [tenant] = tenants as [string]
  await db.pool.query(
    `insert into usage_writers (id, last_batch, written_at) values (gen_random_uuid(), 7, now() - interval '8 days')`,
  )
  const { counter } = openCounter()
  counter.count(tenant, 'items', 1)
  await counter.flush()
  const { rows } = await db.pool.query('select from usage_writers where last_batch = 7')
  assert.equal(rows.length, 0)
})
