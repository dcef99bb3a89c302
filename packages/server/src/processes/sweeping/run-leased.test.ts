import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openDatabase, type Database } from '#db/database.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { runLeased } from './run-leased.ts'
import { insertSweeps, renewSweep } from '#features/installation/sweep-store.ts'

let testDatabase: TestDatabase
let db: Database

before(async () => {
  testDatabase = await createTestDatabase()
  db = openDatabase({ url: testDatabase.url, maxConnections: 10, onConnectionError: () => undefined })
})

after(async () => {
  await db.close()
  await testDatabase.drop()
})

let last = 0
async function newSweep(): Promise<string> {
  const name = `sweep ${last++}`
  await insertSweeps(db, [{ name, intervalMs: 60_000 }])
  return name
}

/** Says whether it was this process's turn. */
async function sweep(name: string, holder: string, intervalMs: number, work: () => Promise<void> = async () => undefined) {
  let ran = false
  const times: string[] = []
  const run = async () => {
    ran = true
    await work()
  }
  await runLeased({ db, name, holder, intervalMs, run, onRanAt: (at) => at !== undefined && times.push(at) })
  return { ran, times }
}

const row = async (name: string) =>
  (await db.pool.query('select holder, until, ran_at from sweep_leases where name = $1', [name])).rows[0] as Record<
    string,
    unknown
  >

test('of many processes at once one sweeps, and again only when it is due', async () => {
  const name = await newSweep()
  const all = await Promise.all(Array.from({ length: 8 }, (_, i) => sweep(name, `p${i}`, 60_000)))
  assert.equal(all.filter(({ ran }) => ran).length, 1)
  const later = await sweep(name, 'later', 60_000)
  assert.equal(later.ran, false)
  assert.equal(later.times.length, 1, 'it learns when it was done')
  await db.pool.query("update sweep_leases set ran_at = now() - interval '1 minute' where name = $1", [name])
  assert.equal((await sweep(name, 'later', 60_000)).ran, true)
})

test('a claim that waited for the row counts the time at which it gets it', async () => {
  for (const set of ["until = clock_timestamp() + interval '15 s'", 'ran_at = clock_timestamp()']) {
    const name = await newSweep()
    const writer = await db.pool.connect()
    await writer.query('begin')
    await writer.query('select from sweep_leases where name = $1 for update', [name])
    const waiting = sweep(name, 'waiting', 60_000)
    await untilBlocked(db.pool)
    await writer.query(`update sweep_leases set until = null, ran_at = null, holder = 'writer' where name = $1`, [name])
    await writer.query(`update sweep_leases set ${set} where name = $1`, [name])
    await writer.query('commit')
    writer.release()
    assert.equal((await waiting).ran, false, set)
  }
})

test('one that fails was not done: another process does it', async () => {
  const name = await newSweep()
  await assert.rejects(
    sweep(name, 'one', 60_000, async () => {
      throw new Error('no')
    }),
    /no/,
  )
  const { until, ran_at: ranAt } = await row(name)
  assert.deepEqual([until, ranAt], [null, null])
  assert.equal((await sweep(name, 'two', 60_000)).ran, true)
})

test('while one is at it no other begins; the lease of one that was killed runs out', async () => {
  const name = await newSweep()
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const long = sweep(name, 'long', 0, () => {
    begun.resolve()
    return gate.promise
  })
  await begun.promise
  assert.equal((await sweep(name, 'other', 0)).ran, false)
  await db.pool.query("update sweep_leases set until = now() - interval '1 second' where name = $1", [name])
  assert.equal((await sweep(name, 'other', 0)).ran, true)
  gate.resolve()
  assert.equal((await long).times.length, 1, 'it learns that the other one has done it')
  assert.equal((await row(name))['holder'], 'other', 'the one that lost it gives back nothing')
})

test('a renewal that arrives after the release holds up nobody', async () => {
  const name = await newSweep()
  await sweep(name, 'one', 0)
  assert.equal(await renewSweep(db, { name, holder: 'one', leaseMs: 15_000 }), false)
  assert.equal((await sweep(name, 'two', 0)).ran, true)
})

test('times in the future, after a clock was set back, hold up nothing', async () => {
  const name = await newSweep()
  await db.pool.query(
    "update sweep_leases set ran_at = now() + interval '1 year', until = now() + interval '1 year' where name = $1",
    [name],
  )
  assert.equal((await sweep(name, 'one', 60_000)).ran, true)
})
