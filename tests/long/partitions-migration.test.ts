import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Connections } from '@atrium/traffic/connections'
import { openDatabase, statement } from '../../packages/server/src/db/database.ts'
import { migrate } from '../../packages/server/src/db/migrate.ts'
import { migrationsFolder, readMigrationFiles } from '../../packages/server/src/db/migration-files.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'

const rows = Number(process.env['ATRIUM_TEST_ROWS'] ?? 1_000_000)

/** Statements of the release before the partitions, which serves while the migrations run. */
const writes = {
  'insert into the outbox': `insert into event_outbox (tenant_id, id, type, data, was_open)
    select 't' || n, 'evt_new', 'item.deleted', '{}', null from generate_series(1, 5) n`,
  'number events': `select number_events(array['t1', 't2', 't3', 't4', 't5'], 20)`,
  'write an outcome': `update webhook_deliveries set attempts = attempts + 1
    where (tenant_id, sequence) = (select 't' || floor(random() * 10), 1 + floor(random() * ${Math.floor(rows / 10) - 1})::bigint)`,
  'claim a key': `insert into idempotency_keys as k (scope, key_hash, body_hash, expires_at)
    select 't1', sha256(('new' || random())::bytea), 'b', now() + interval '1 day' from generate_series(1, 5)
    on conflict on constraint idempotency_keys_pkey do update set expires_at = excluded.expires_at where k.expires_at <= now()`,
  'answer a key': `update idempotency_keys set answer = 'new'
    where (scope, key_hash) = (select 't' || n % 10, sha256(n::text::bytea) from (select 1 + floor(random() * ${rows - 2})::int as n) one)`,
  'claim a delivery': `select from webhook_deliveries where status = 'pending' order by tenant_id limit 1`,
}

test(`${rows} rows become partitioned under load: no write fails, and none waits for as long as its time limit`, async (t) => {
  const database = await createTestDatabase({ template: 'template0' })
  t.after(() => database.drop())
  // With the time limits of requests: a lock is waited for in short tries, for 2.5 s in all.
  const db = openDatabase({ url: database.url, maxConnections: 8, onConnectionError: () => undefined })
  t.after(() => db.close())
  const { pool } = db
  const files = await readMigrationFiles(migrationsFolder)
  await migrate(pool, migrationsFolder, [], { only: new Set(files.map(({ name }) => name).filter((name) => name < '0058')) })
  await fill(pool)

  const state = { stopped: false, errors: [] as string[] }
  const slowest = new Map<string, number>()
  const count = new Map<string, number>()
  const load = Object.entries(writes).map(async ([name, text]) => {
    while (!state.stopped) {
      const startedAt = performance.now()
      await db
        .query(statement(`load-${name}`, text, { writes: true }), [])
        .catch((error: Error) => state.errors.push(`${name}: ${error.message}`))
      const tookMs = performance.now() - startedAt
      slowest.set(name, Math.max(slowest.get(name) ?? 0, tookMs))
      count.set(name, (count.get(name) ?? 0) + 1)
      await delay(5)
    }
  })
  await delay(2_000)
  t.diagnostic(`before: ${show(slowest)}`)
  slowest.clear()
  for (const { name } of files.filter((file) => file.name >= '0058')) {
    const startedAt = performance.now()
    await migrate(pool, migrationsFolder, [], { only: new Set(files.map((file) => file.name).filter((file) => file <= name)) })
    t.diagnostic(`${name}: ${Math.round(performance.now() - startedAt)} ms; slowest: ${show(slowest)}`)
    for (const [write, tookMs] of slowest) assert.ok(tookMs < 2_000, `${write} took ${tookMs} ms`)
    slowest.clear()
  }
  await delay(2_000)
  state.stopped = true
  await Promise.all(load)
  t.diagnostic(`after: ${show(slowest)}; ${[...count].map(([name, n]) => `${n} × ${name}`).join(', ')}`)
  assert.deepEqual(state.errors, [])
  const { rows: kept } = await pool.query('select count(*) as count from webhook_deliveries')
  assert.deepEqual(kept, [{ count: rows }])
  const keys = 5 * count.get('claim a key')!
  const { rows: copied } = await pool.query(
    `select count(*) as count, count(*) filter (where answer = 'new') > 0 as any_answered from idempotency_keys`,
  )
  assert.deepEqual(copied, [{ count: rows + keys, any_answered: true }])
})

async function fill(pool: Connections): Promise<void> {
  const client = await pool.connect()
  const run = (text: string) => client.query({ text, timeoutMs: Infinity })
  try {
    await run('set statement_timeout = 0; set lock_timeout = 0')
    await run(`insert into webhook_deliveries (tenant_id, sequence, id, status, attempts, created_at)
      select 't' || n % 10, n / 10, 'evt_' || lpad(n::text, 22, '0'), 'succeeded', 1, now() - n * interval '1 second'
      from generate_series(1, ${rows}) n`)
    await run(`insert into event_outbox (tenant_id, id, type, data)
      select 't' || n % 10, 'evt_' || lpad(n::text, 22, '0'), 'item.deleted', '{"collection_id":"col_4fRzK0vXcB1mQwErTy7uPa"}'
      from generate_series(1, ${rows}) n`)
    await run(`insert into idempotency_keys (scope, key_hash, body_hash, answer, expires_at)
      select 't' || n % 10, sha256(n::text::bytea), sha256('b'), repeat('x', 256)::bytea, now() + interval '1 day'
      from generate_series(1, ${rows}) n`)
    await run('vacuum analyze idempotency_keys')
    await run('vacuum analyze webhook_deliveries')
    await run('vacuum analyze event_outbox')
  } finally {
    client.release(true)
  }
}

function show(times: Map<string, number>): string {
  return [...times].map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(', ')
}
