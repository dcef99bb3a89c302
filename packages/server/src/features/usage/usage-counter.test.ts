import assert from 'node:assert/strict'
import { after, before, beforeEach, mock, test } from 'node:test'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { setTimeout as delay } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { openDatabase, type Database } from '#db/database.ts'
import { passesOnce } from '#testing/busy-machine.ts'
import { countDeadlocks, detectDeadlocks } from '#testing/deadlocks.ts'
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
  await detectDeadlocks(database.url)
  db = openDatabase({ url: database.url, maxConnections: 8, onConnectionError: () => {} })
})
beforeEach(async () => {
  tenants = []
  for (let n = 0; n < 20; n++) {
    // On a busy machine, PostgreSQL may not accept a connection in time.
    const made = await passesOnce(() => db.transaction((tx) => openTenant(tx, { name: 'Test', email: null, roles: null })))
    tenants.push(made.tenant.id)
  }
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
  return Object.fromEntries(counts.flatMap(({ meter, quantity }) => (quantity > 0 ? [[meter, quantity]] : [])))
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
      for (const tenant of order) counter.sent(tenant, 2)
      await counter.flush()
    }
  })
  await Promise.all(work)
  assert.deepEqual([counters[0]!.errors, counters[1]!.errors], [[], []])
  for (const tenant of tenants) {
    assert.deepEqual(await stored(tenant), { requests: 2 * rounds, bytes: 24 * rounds })
  }
  assert.equal(await countDeadlocks(database.url), 0)
})

test('a flush whose connection ends loses nothing and counts nothing twice, and the metrics record it', async () => {
  const [tenant] = tenants as [string]
  // Its connection ends while it waits.
  const patient = openDatabase({ url: database.url, maxConnections: 1, onConnectionError: () => {} })
  await patient.pool.query(`set lock_timeout = '20s'`)
  const { counter, errors, metric } = openCounter({ on: patient })
  counter.sent(tenant, 3)
  await counter.flush()
  const blocker = await db.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from usage_traffic where tenant_id = $1 for update', [tenant])
  counter.sent(tenant, 4)
  const flushed = counter.flush()
  const pid = await sessionThat(`wait_event_type = 'Lock' and query like '%usage_traffic%'`)
  // Counted while the batch is being written.
  counter.sent(tenant, 5)
  await db.pool.query('select pg_terminate_backend($1)', [pid])
  await flushed
  await blocker.query('rollback')
  blocker.release()
  assert.equal(errors.length, 1)
  assert.equal(await metric('atrium_usage_flush_failures_total'), 1)
  assert.deepEqual(await stored(tenant), { bytes: 3 })
  await counter.flush()
  assert.deepEqual(await stored(tenant), { bytes: 12 })
  await counter.flush()
  assert.deepEqual(await stored(tenant), { bytes: 12 })
  await counter.close()
  await patient.close()
})

test('while a row of one tenant is locked, the counts of all others are written; its own is added once, after the lock', async () => {
  const [tenant, ...others] = tenants as [string]
  const { counter } = openCounter()
  for (const id of tenants) counter.sent(id, 1)
  await counter.flush()
  const blocker = await db.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from usage_traffic where tenant_id = $1 for update', [tenant])
  for (let round = 0; round < 2; round++) {
    for (const id of tenants) counter.sent(id, 1)
    await counter.flush()
  }
  for (const id of others) assert.deepEqual(await stored(id), { bytes: 3 })
  assert.deepEqual(await stored(tenant), { bytes: 1 })
  await blocker.query('rollback')
  blocker.release()
  await counter.flush()
  for (const id of tenants) assert.deepEqual(await stored(id), { bytes: 3 })
})

test('the only count of a write, whose row is locked, is added after the lock, whatever was written meanwhile', async () => {
  const [tenant, other] = tenants as [string, string]
  const { counter, errors } = openCounter()
  counter.sent(tenant, 1)
  await counter.flush()
  const blocker = await db.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from usage_traffic where tenant_id = $1 for update', [tenant])
  counter.sent(tenant, 2)
  await counter.flush()
  counter.sent(other, 4)
  await counter.flush()
  assert.deepEqual(await stored(other), { bytes: 4 })
  await blocker.query('rollback')
  blocker.release()
  await counter.flush()
  assert.deepEqual(await stored(tenant), { bytes: 3 })
  assert.deepEqual(errors, [])
})

test('a batch whose answer was lost, and whose row is then locked, does not delay the counts of later batches', async () => {
  const [tenant, other] = tenants as [string, string]
  let losing = false
  const lossy: Database = {
    ...db,
    query: async (stmt, values) => {
      if (losing && stmt.name === 'usage-add-traffic') throw new ConnectionLost('the request is lost')
      return db.query(stmt, values)
    },
  }
  const { counter } = openCounter({ on: lossy })
  for (const id of tenants) counter.sent(id, 1)
  await counter.flush()
  losing = true
  for (const id of tenants) counter.sent(id, 2)
  await counter.flush()
  losing = false
  const blocker = await db.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from usage_traffic where tenant_id = $1 for update', [tenant])
  for (let round = 0; round < 2; round++) {
    counter.sent(other, 4)
    await counter.flush()
  }
  assert.deepEqual(await stored(other), { bytes: 9 })
  await blocker.query('rollback')
  blocker.release()
  await counter.flush()
  assert.deepEqual(await stored(other), { bytes: 11 })
  assert.deepEqual(await stored(tenant), { bytes: 3 })
  await counter.flush()
  for (const id of tenants) assert.deepEqual(await stored(id), { bytes: id === other ? 11 : 3 })
})

test('a count that may be committed does not grow, however often its row is locked', async () => {
  const [tenant] = tenants as [string]
  let losing = true
  const first = await db.pool.connect()
  await first.query('begin')
  const lossy: Database = {
    ...db,
    query: async (stmt, values) => {
      if (!losing || stmt.name !== 'usage-add-traffic') return db.query(stmt, values)
      losing = false
      // It goes on in the database after its connection was lost.
      await first.query(stmt.text, values)
      throw new ConnectionLost('the answer is lost')
    },
  }
  const { counter, metric } = openCounter({ on: lossy })
  for (let i = 0; i < 4; i++) {
    counter.sent(tenant, 10 ** i)
    await counter.flush()
  }
  await first.query('commit')
  first.release()
  await counter.flush()
  assert.deepEqual(await stored(tenant), { bytes: 1_111 })
  assert.equal(await metric('atrium_usage_flush_failures_total'), 1)
})

test('a batch that was committed although its answer was lost is not added again', async () => {
  const [tenant] = tenants as [string]
  let losing = true
  const lossy: Database = {
    ...db,
    query: async (stmt, values) => {
      const rows = await db.query(stmt, values)
      if (losing && stmt.name === 'usage-add-traffic') throw new ConnectionLost('the answer is lost')
      return rows
    },
  }
  const { counter, errors } = openCounter({ on: lossy })
  counter.sent(tenant, 1)
  await counter.flush()
  assert.deepEqual(await stored(tenant), { bytes: 1 })
  counter.sent(tenant, 1)
  await counter.flush()
  losing = false
  await counter.flush()
  assert.equal(errors.length, 2)
  assert.deepEqual(await stored(tenant), { bytes: 2 })
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
  counter.sent(tenant, 1)
  await counter.close()
  assert.deepEqual(await stored(tenant), { bytes: 1 })
})

test('each tenant is written once a minute, a sixtieth of them in a second, and of two processes at different times', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  const written: string[][] = []
  const watched: Database = {
    ...db,
    query: async (_, values) => {
      written.at(-1)!.push(...(values?.[2] as string[]))
      return []
    },
  }
  const ids = Array.from({ length: 6_000 }, (_, i) => `ten_${i}`)
  const seconds: Map<string, number>[] = []
  for (const { counter } of [openCounter({ on: watched }), openCounter({ on: watched })]) {
    written.length = 0
    for (let second = 0; second < 120; second++) {
      for (const id of ids) counter.answered(id, 1)
      written.push([])
      mock.timers.tick(1_000)
      await new Promise(setImmediate)
    }
    for (const minute of [written.slice(0, 60), written.slice(60, 120)]) {
      assert.deepEqual(minute.flat().toSorted(), ids.toSorted())
      for (const second of minute) assert.ok(second.length < 200, `${second.length} in a second`)
    }
    seconds.push(new Map(written.slice(60, 120).flatMap((second, at) => second.map((id) => [id, at] as const))))
    await counter.close()
  }
  mock.timers.reset()
  const [one, other] = seconds as [Map<string, number>, Map<string, number>]
  assert.ok(ids.filter((id) => one.get(id) === other.get(id)).length < 300, 'the processes write together')
})

test('memory stays bounded while the database is unavailable', async () => {
  const away: Database = { ...db, query: () => Promise.reject(new Error('connect ECONNREFUSED')) }
  const { counter, metric } = openCounter({ on: away })
  for (let i = 0; i < 79_999; i++) counter.answered(`ten_${i}`, 1)
  await counter.flush()
  for (let i = 0; i < 100_100; i++) counter.answered(`ten_${i}`, 1)
  assert.equal(await metric('atrium_usage_dropped_total'), 100)
})

test('after an outage, the counts of many tenants are written in bounded statements, each count once', async () => {
  let isAway = true
  const sizes: number[] = []
  const written = new Map<string, number>()
  const numbers: number[] = []
  const watched: Database = {
    ...db,
    query: async (stmt, values) => {
      if (stmt.name !== 'usage-add-traffic') return []
      if (isAway) throw new ConnectionLost('away')
      const [, number, ids, , requests] = values as [string, number, string[], string[], number[]]
      // The second statement fails once, and is sent again as it was.
      if (number === 2 && numbers.at(-1) === 1) {
        numbers.push(number)
        throw new ConnectionLost('the connection broke')
      }
      numbers.push(number)
      sizes.push(ids.length)
      ids.forEach((id, i) => written.set(id, (written.get(id) ?? 0) + requests[i]!))
      return []
    },
  }
  const { counter } = openCounter({ on: watched })
  for (let i = 0; i < 12_000; i++) counter.answered(`ten_${i}`, 1)
  await counter.flush()
  isAway = false
  await counter.flush()
  await counter.flush()
  assert.deepEqual(numbers, [1, 2, 2, 3])
  assert.deepEqual(sizes, [5_000, 5_000, 2_000])
  assert.ok(written.size === 12_000 && [...written.values()].every((requests) => requests === 1))
})

test('counts of an unknown tenant do not block those of others', async () => {
  const [tenant] = tenants as [string]
  const { counter, errors } = openCounter()
  counter.sent('ten_nobody', 1)
  counter.sent(tenant, 1)
  await counter.flush()
  assert.deepEqual(errors, [])
  assert.deepEqual(await stored(tenant), { bytes: 1 })
  assert.deepEqual(await stored('ten_nobody'), {})
})

test('sums stop at the largest exact integer, and an invalid quantity is refused', async () => {
  const [tenant] = tenants as [string]
  const { counter, errors } = openCounter()
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) counter.sent(tenant, Number.MAX_SAFE_INTEGER)
    await counter.flush()
    assert.deepEqual(await stored(tenant), { bytes: Number.MAX_SAFE_INTEGER })
  }
  assert.deepEqual(errors, [])
  for (const wrong of [Number.NaN, -1, 0.5, 2 ** 53]) assert.throws(() => counter.sent(tenant, wrong))
})

test('rows of stopped processes are deleted when another process first writes', async () => {
  const [tenant] = tenants as [string]
  await db.pool.query(
    `insert into usage_writers (id, last_batch, written_at) values (gen_random_uuid(), 7, now() - interval '8 days')`,
  )
  const { counter } = openCounter()
  counter.sent(tenant, 1)
  await counter.flush()
  const { rows } = await db.pool.query('select from usage_writers where last_batch = 7')
  assert.equal(rows.length, 0)
})
