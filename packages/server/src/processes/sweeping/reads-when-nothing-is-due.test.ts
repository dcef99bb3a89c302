import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import type { Database, Db, Statement, Tx } from '#db/database.ts'
import { expireUploads } from '#features/artifacts/uploads/complete-upload.ts'
import { claimSearch } from '#features/artifacts/orphan-store.ts'
import { claimBlobDeletions } from '#features/blob-deletions/store.ts'
import { sweepLedger } from '#features/credits/ledger/ledger.ts'
import { announceExpiringKeys } from '#features/keys/issue-key.ts'
import { markExpiringKeys } from '#features/keys/expiry-store.ts'
import { deleteOldEvents } from '#features/events/store.ts'
import { listOfSuspended, listOverdue } from '#features/sessions/list-store.ts'
import { forgetOldEvents } from '#features/webhooks/delivery-store.ts'
import { deleteExpiredFrom } from '#http/idempotency/store.ts'
import { passesOnce } from '#testing/busy-machine.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
  await fill()
})

after(() => api.close())

/**
 * What a retention has left behind after a long time: rows of all ages on every page, since new ones took the room of
 * those that were deleted. Nothing of it is due.
 */
async function fill(): Promise<void> {
  const { pool } = api.ctx.db
  const { id } = await api.makeTenant()
  const rows = 30_000
  await pool.query(
    `insert into idempotency_keys (scope, key_hash, body_hash, answer, expires_at)
     select 't', sha256(i::text::bytea), sha256('b'), repeat('x', 100)::bytea, now() + interval '1 hour' + (i * 7919 % ${rows}) * interval '1 second'
     from generate_series(1, ${rows}) i`,
  )
  await pool.query(
    `insert into events (tenant_id, sequence, id, type, data, created_at)
     select $1, i, 'evt_' || i, 'item.added', '{"text":"something that takes room"}', now() - (i * 7919 % ${rows}) * interval '10 seconds'
     from generate_series(1, ${rows}) i`,
    [id],
  )
  await pool.query(`begin; set local session_replication_role = replica;
    insert into ledger_due (tenant_id, id, due_at) select 't', 'd' || i, now() + interval '1 hour' + i * interval '1 second' from generate_series(1, ${rows}) i;
    insert into blob_deletions (tenant_id, target, due_at) select 't', 'd' || i, now() + interval '1 hour' + i * interval '1 second' from generate_series(1, ${rows}) i;
    insert into artifact_uploads (tenant_id, collection_id, artifact_id, mime, bytes, expires_at)
      select 't', 'c', 'a' || i, 'image/png', 1, now() + interval '1 hour' + i * interval '1 second' from generate_series(1, ${rows}) i;
    insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent_version, is_remote, room, status, price, max_minutes, answered_seq, created_at, joined_at, expires_at)
      select 't', 's' || i, 't', 'a', sha256('a'), i % 2 = 0, 'r' || i, (array['running', 'stopped', 'expired', 'stopping'])[1 + i % 4], 1, 5, 0,
        now() - interval '1 hour', now() - interval '1 hour', now() + interval '1 hour' + i * interval '1 second' from generate_series(1, ${rows}) i;
    insert into agents (tenant_id, id, name, description, instructions, tools, price_credits, max_minutes, status)
      select 't', 'a' || i, 'Agent', 'It helps.', repeat('x', 100), '[]', 1, 5, 'active' from generate_series(1, ${rows}) i;
    commit`)
  // A few dead ones in every stretch, such as a BRIN index never forgets.
  await pool.query(`insert into idempotency_keys (scope, key_hash, body_hash, expires_at)
    select 'old', sha256(i::text::bytea), sha256('b'), now() - interval '1 day' from generate_series(1, 50) i`)
  await pool.query(`delete from idempotency_keys where scope = 'old'`)
  await pool.query('vacuum analyze')
}

interface Plan {
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
}

/** Explains each statement instead of running it for its rows: adds up the pages that were read. */
function countPages(db: Database): { db: Database; pages: () => number } {
  let pages = 0
  const query = async <Row>({ text }: Statement<Row>, values: unknown[]): Promise<Row[]> => {
    const { rows } = await db.pool.query(`explain (analyze, buffers, format json) ${text}`, values)
    const [{ Plan: plan }] = (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN']
    pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    return []
  }
  const counting: Db = { query }
  const wake = () => undefined
  const transaction: Database['transaction'] = (run) => run({ ...counting, wake } as unknown as Tx)
  const inTransaction = { transaction, transactionOnce: transaction, lane: () => ({ transaction }) }
  return { db: { ...counting, ...inTransaction, wake, pool: db.pool, close: db.close }, pages: () => pages }
}

const sweeps: [string, (db: Database) => Promise<unknown>][] = [
  ['expired idempotency keys', (db) => deleteExpiredFrom(db)(1_000)],
  ['old events, looked for', (db) => forgetOldEvents(db, 1_000).catch(() => undefined)],
  ['old events, deleted', (db) => db.transaction((tx) => deleteOldEvents(tx, 30, 1_000))],
  ['overdue sessions', (db) => listOverdue(db, { but: [], limit: 100 })],
  ['sessions of suspended tenants', (db) => listOfSuspended(db, { but: [], limit: 100 })],
  ['holds and coupons', (db) => sweepLedger(db, api.ctx.ledger, 1_000)],
  ['stored files of what was deleted', (db) => claimBlobDeletions(db, 100)],
  ['uploads never completed', (db) => expireUploads({ db }, 1_000)],
  ['stored files of nothing', (db) => claimSearch(db)],
  ['keys about to expire, looked for', (db) => announceExpiringKeys(db, 1_000).catch(() => undefined)],
  ['keys about to expire, marked', (db) => db.transaction((tx) => markExpiringKeys(tx, 1_000))],
]

for (const [name, run] of sweeps) {
  test(`with nothing due, ${name}: a handful of pages is read`, async (t) => {
    await passesOnce(async (n) => {
      // While another transaction of the database ran, such as the analysis of a table, no dead row could be removed.
      if (n > 1) await api.ctx.db.pool.query('vacuum analyze')
      const counting = countPages(api.ctx.db)
      await run(counting.db)
      t.diagnostic(`${counting.pages()} pages`)
      assert.ok(counting.pages() < 20, `${counting.pages()} pages`)
    })
  })
}

test('what is due is deleted a batch at a time, the oldest first, and costs in proportion', async () => {
  const { db } = api.ctx
  await db.pool.query(`insert into idempotency_keys (scope, key_hash, body_hash, expires_at)
    select 'due', sha256(i::text::bytea), sha256('b'), now() - i * interval '1 second' from generate_series(1, 500) i`)
  const counting = countPages(db)
  await deleteExpiredFrom(counting.db)(100)
  // 100 rows by way of two indexes each.
  assert.ok(counting.pages() < 2_500, `${counting.pages()} pages`)
  assert.equal(await deleteExpiredFrom(db)(100), 100)
  const { rows } = await db.pool.query(
    `select count(*)::int as left, bool_and(key_hash in (select sha256(i::text::bytea) from generate_series(1, 300) i)) as are_youngest
     from idempotency_keys where scope = 'due'`,
  )
  assert.deepEqual(rows, [{ left: 300, are_youngest: true }])
})

test('while an old snapshot keeps what was deleted, the next batch costs no more than the first', async (t) => {
  const { db } = api.ctx
  await db.pool.query(`delete from idempotency_keys where scope = 'due'`)
  await db.pool.query(`insert into idempotency_keys (scope, key_hash, body_hash, expires_at)
    select 'due', sha256(i::text::bytea), sha256('b'), now() - (1 + i * 7919 % 6000) * interval '1 second' from generate_series(1, 6000) i`)
  await db.pool.query('analyze idempotency_keys')
  const backup = new Client({ connectionString: api.databaseUrl })
  await backup.connect()
  t.after(() => backup.end())
  await backup.query('begin isolation level repeatable read; select 1')
  const first = countPages(db)
  await deleteExpiredFrom(first.db)(100)
  const late = countPages(db)
  let counts = false
  const deleteExpired = deleteExpiredFrom({ query: (asked, values) => (counts ? late.db : db).query(asked, values) })
  for (let batch = 0; batch < 50; batch++) assert.equal(await deleteExpired(100), 100)
  counts = true
  await deleteExpired(100)
  t.diagnostic(`${first.pages()} pages at first, ${late.pages()} after 5,000 rows`)
  assert.ok(late.pages() < 2 * first.pages(), `${first.pages()} pages at first, ${late.pages()} after 5,000 rows`)
})
