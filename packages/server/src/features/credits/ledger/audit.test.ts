import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openDatabase, type Database } from '#db/database.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { auditLedger } from './audit-store.ts'
import { lastProof, proveBooks } from './audit.ts'

let testDatabase: TestDatabase
let db: Database

before(async () => {
  testDatabase = await createTestDatabase()
  db = openDatabase({ url: testDatabase.url, maxConnections: 4, onConnectionError: () => undefined })
  await run(`insert into ledger_accounts (tenant_id, id, kind) values ('platform', 'platform', 'platform');
    insert into ledger_accounts (tenant_id, id, kind) select 't', 'i' || i, 'issuer' from generate_series(1, 300) i;
    insert into ledger_accounts (tenant_id, id, kind) select 't', 'i' || i || '.held', 'held' from generate_series(1, 300) i`)
})

after(async () => {
  await db.close()
  await testDatabase.drop()
})

const run = (sql: string) => db.pool.query(sql)

/** Writes around the code and its triggers. */
const falsify = (sql: string) => run(`begin; set local session_replication_role = replica; ${sql}; commit`)

let last = 0
/** Rows of the given age. */
const fund = (account: string, amount: number, age = '0') =>
  run(`insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, created_at)
    values ('platform', 'x${last++}', 'prefund', 'platform', 't', '${account}', ${amount}, 't', now() - interval '${age}')`)

const hold = (account: string, id: string, amount: number, age = '0') =>
  run(`insert into ledger_holds (tenant_id, id, account_id, amount, actor, purpose, ends_at, created_at)
      values ('t', '${id}', '${account}', ${amount}, 't', 'p', now() + interval '1 hour', now() - interval '${age}');
    insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, created_at)
      values ('t', '${id}', 'hold', '${account}', 't', '${account}.held', ${amount}, 't', now() - interval '${age}')`)

test('the first proof reads everything, the next ones only what was added since', async () => {
  for (let i = 1; i <= 300; i++) await fund(`i${i}`, 10, '1 hour')
  assert.deepEqual(await proveBooks(db), { full: true, findings: [] })
  await fund('i1', 5)
  await hold('i1', 'h1', 3)
  assert.deepEqual(await proveBooks(db), { full: false, findings: [] })
  await run(`insert into ledger_hold_ends (tenant_id, id, outcome, captured) values ('t', 'h1', 'released', 0);
    insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor)
      values ('t', 'h1.release', 'release', 'i1.held', 't', 'i1', 3, 't')`)
  assert.deepEqual(await proveBooks(db), { full: false, findings: [] })
  const proof = (await lastProof(db))!
  assert.deepEqual([proof.findings, proof.credits], [0, 3_005])
})

test('settled rows are added once: sums and books agree after any number of steps', async () => {
  for (let step = 0; step < 6; step++) {
    // Rows younger and older than what a step settles.
    await fund('i2', 7, '90 seconds')
    await hold('i2', `s${step}`, 2)
    await run(`update ledger_proof set proved_through = proved_through - interval '0 seconds'`)
    assert.deepEqual(await proveBooks(db), { full: false, findings: [] })
    // Some minutes later all rows are old enough, and none is settled twice.
    await falsify(`update ledger_transfers set created_at = created_at - interval '3 minutes';
      update ledger_holds set created_at = created_at - interval '3 minutes';
      update ledger_hold_ends set ended_at = ended_at - interval '3 minutes';
      update ledger_proof set proved_through = proved_through - interval '3 minutes'`)
  }
  const { rows } = await run(`select a.balance, p.moved, p.held from ledger_proved p join ledger_accounts a using (tenant_id, id)
    where id = 'i2.held'`)
  assert.deepEqual(rows, [{ balance: 12, moved: 10, held: 10 }], 'all but what came last')
  assert.deepEqual((await auditLedger(db)).findings, [])
})

const rules = (findings: { rule: string; subject: string }[]) => findings.map(({ rule, subject }) => `${rule}: ${subject}`)

test('a changed balance is found: at once where credits moved, else within a round over the accounts', async () => {
  await falsify(`update ledger_accounts set balance = balance + 1 where id = 'i200'`)
  await fund('i200', 1)
  const found = await proveBooks(db, { stretch: 1 })
  assert.ok(found.full, 'and confirmed by a full proof before it is told')
  assert.ok(rules(found.findings).includes('balance is the sum of its rows: t/i200'))
  assert.ok((await lastProof(db))!.findings > 0)
  await falsify(`update ledger_accounts set balance = balance - 1 where id = 'i200'`)
  assert.deepEqual((await proveBooks(db, { stretch: 1_000 })).findings, [])

  await falsify(`update ledger_accounts set balance = balance + 1 where id = 'i77'`)
  let steps = 0
  for (
    let step = await proveBooks(db, { stretch: 100 });
    step.findings.length === 0;
    step = await proveBooks(db, { stretch: 100 })
  )
    assert.ok(++steps <= 7, 'within a round of 601 accounts')
  await falsify(`update ledger_accounts set balance = balance - 1 where id = 'i77'`)
  assert.deepEqual((await proveBooks(db)).findings, [])
})

test('a hold whose credits were never set aside is found', async () => {
  await run(`insert into ledger_holds (tenant_id, id, account_id, amount, actor, purpose, ends_at)
    values ('t', 'loose', 'i5', 4, 't', 'p', now() + interval '1 hour')`)
  const { full, findings } = await proveBooks(db)
  assert.deepEqual([full, rules(findings)], [true, ['held is the sum of open holds: t/i5.held']])
  await falsify(`delete from ledger_holds where id = 'loose'`)
  assert.deepEqual((await proveBooks(db)).findings, [])
})

test('a row that appears late is no finding: the full audit recomputes the sums', async () => {
  assert.equal((await proveBooks(db)).full, false)
  await fund('i9', 5, '30 minutes')
  assert.deepEqual(await proveBooks(db), { full: true, findings: [] })
  assert.deepEqual(await proveBooks(db), { full: false, findings: [] })
})

test('a step reads what was added since, not the whole books', async () => {
  await run(`insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, created_at)
    select 'platform', 'bulk' || i, 'prefund', 'platform', 't', 'i' || (1 + i % 300), 1, 't', now() - interval '1 day'
    from generate_series(1, 30000) i`)
  assert.equal((await proveBooks(db)).full, true)
  await run('vacuum analyze ledger_transfers')
  await fund('i1', 1)
  const blocks = async () => {
    const { rows } = await run(`select pg_stat_force_next_flush(), pg_stat_clear_snapshot()`)
    assert.equal(rows.length, 1)
    const read = await run(
      `select (heap_blks_read + heap_blks_hit)::integer as n from pg_statio_user_tables where relname = 'ledger_transfers'`,
    )
    return (read.rows[0] as { n: number }).n
  }
  const single = openDatabase({ url: testDatabase.url, maxConnections: 1, onConnectionError: () => undefined })
  const before = await blocks()
  assert.equal((await proveBooks(single)).full, false)
  await single.pool.query('select pg_stat_force_next_flush()')
  await single.close()
  const [{ pages }] = (await run(`select pg_relation_size('ledger_transfers')::integer / 8192 as pages`)).rows as [
    { pages: number },
  ]
  let read = 0
  for (let i = 0; i < 50 && (read = (await blocks()) - before) === 0; i++) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.ok(read > 0 && read < pages / 4, `${read} of ${pages} pages`)
})
