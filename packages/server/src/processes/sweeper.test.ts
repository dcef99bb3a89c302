import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { startSweeper } from './sweeper.ts'
import { sendUntilServed } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { holdSweeps, sweepUntil } from '#testing/sweep-until.ts'

const price = 5
/** More than are ended at once. */
const count = 130
let world: SessionWorld

before(async () => {
  world = await startSessionWorld({ runner: false })
})

after(() => world.close())

async function launchAll(coupon: string): Promise<string[]> {
  const agentId = await world.makeAgent({ price_credits: price })
  const ids: string[] = []
  while (ids.length < count) {
    const some = await Promise.all(
      Array.from({ length: 10 }, () => {
        const body = { agent_id: agentId, room: world.newRoom(), coupon }
        return sendUntilServed(world.api, 'POST', '/sessions', {
          key: world.tenant.secretKey,
          idempotencyKey: randomUUID(),
          body,
        })
      }),
    )
    for (const { status, text, body } of some) {
      assert.equal(status, 201, text)
      ids.push(body.data.id)
    }
  }
  return ids
}

const run = (sql: string) => world.api.ctx.db.pool.query(sql)

test('sessions that worked are paid also when nobody swept until their holds were past their end', async (t) => {
  const coupon = await world.makeCoupon(count * price)
  const ids = await launchAll(coupon)
  assert.equal((await world.balance(coupon)).held, count * price)
  await run("update sessions set status = 'running', joined_at = now(), expires_at = now() - interval '15 minutes'")
  await run("update ledger_due set due_at = now() - interval '5 minutes'")
  // One of them cannot be ended for a while.
  await run(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refused before update on sessions for each row when (old.id = '${ids[0]}') execute function refuse()`)

  holdSweeps(t)
  const stop = startSweeper(world.api.ctx)
  try {
    await sweepUntil(t, world.api.ctx, async () => (await world.balance(coupon)).held === price, 'all but one are settled')
    const { rows } = await run("select id from sessions where status = 'expired' and charged = 5")
    assert.equal(rows.length, count - 1)
    const looked = await run('select id from ledger_due')
    assert.equal(looked.rows.length, 1, 'the hold of that one stays')
    await run('drop trigger refused on sessions')
    await sweepUntil(t, world.api.ctx, async () => (await world.balance(coupon)).held === 0, 'the last one is settled')
  } finally {
    stop()
  }
  assert.deepEqual(await world.balance(coupon), { balance: 0, held: 0 })
  const earned = await run("select balance from ledger_accounts where kind = 'revenue'")
  assert.deepEqual(earned.rows, [{ balance: count * price }])
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})

test('a session is paid also where the clock jumps forward while a sweep is under way', async (t) => {
  const coupon = await world.makeCoupon(price)
  const { id } = (await world.launch(await world.makeAgent({ price_credits: price }), world.newRoom(), coupon)).body.data
  await run(`update sessions set status = 'running', joined_at = now() where id = '${id}'`)
  const { ctx } = world.api
  let hasJumped = false
  // The clock jumps forward by an hour after the query for overdue sessions. The effect is the same if the process is
  // paused there for an hour.
  const query: typeof ctx.db.query = async (statement, values) => {
    const rows = await ctx.db.query(statement, values)
    if (hasJumped) return rows
    if (statement.name === 'database-contact')
      return rows.map((row) => ({ ...row, last_at: new Date(Date.now() - 3_600_000).toISOString() }))
    if (statement.name === 'sessions-of-suspended') {
      hasJumped = true
      await run(`update sessions set expires_at = now() - interval '15 minutes' where id = '${id}'`)
      await run(`update ledger_due set due_at = now() - interval '5 minutes'`)
    }
    return rows
  }
  holdSweeps(t)
  const stop = startSweeper({ ...ctx, db: { ...ctx.db, query } })
  try {
    await sweepUntil(t, world.api.ctx, async () => (await world.balance(coupon)).held === 0, 'it is settled')
  } finally {
    stop()
  }
  assert.deepEqual(await world.balance(coupon), { balance: 0, held: 0 })
  assert.deepEqual((await run(`select status, charged from sessions where id = '${id}'`)).rows, [
    { status: 'expired', charged: price },
  ])
  assert.deepEqual((await auditLedger(ctx.db)).findings, [])
})

test('of many processes one does a sweep when it is due, and each shows when that was', async (t) => {
  const { ctx } = world.api
  await run('update sweep_leases set ran_at = null, until = null')
  t.mock.timers.enable({ apis: ['setInterval'] })
  let sweeps = 0
  const pictures = Object.assign(Object.create(ctx.pictures) as typeof ctx.pictures, { sweep: async () => 0 })
  const blobs = Object.assign(Object.create(ctx.blobs) as typeof ctx.blobs, {
    sweep: async () => 0,
    list: async () => {
      sweeps++
      return { blobs: [] }
    },
  })
  const stops = Array.from({ length: 6 }, () => startSweeper({ ...ctx, pictures, blobs }))
  try {
    t.mock.timers.tick(5 * 60_000)
    const ran = async () =>
      (await run("select from sweep_leases where name = 'stored files of nothing' and ran_at is not null")).rows.length
    await eventually(async () => (await ran()) === 1, 'it is done', 60_000)
    for (let i = 0; i < 3; i++) t.mock.timers.tick(5 * 60_000)
    const shown = async () =>
      /atrium_sweep_last_run_timestamp_seconds\{sweep="stored files of nothing"\} 1\d{9}/.test(
        await ctx.metrics.registry.metrics(),
      )
    await eventually(shown, 'its time is shown', 60_000)
    assert.equal(sweeps, 1)
  } finally {
    for (const stop of stops) stop()
  }
})

test('a sweep that never completes shows for how long, and so do books that cannot be audited', async (t) => {
  const { ctx } = world.api
  await ctx.prover.run()
  await run('update sweep_leases set ran_at = null, until = null')
  const startMs = Date.now()
  t.mock.timers.enable({ apis: ['setInterval'] })
  const swept = new Map<string, number>()
  const audits: string[] = []
  const metrics = Object.assign(Object.create(ctx.metrics) as typeof ctx.metrics, {
    swept: (name: string, atMs: number) => swept.set(name, atMs),
    sweepFailed: () => undefined,
    audited: ({ provedAt }: { provedAt: string }) => audits.push(provedAt),
  })
  const prover = Object.assign(Object.create(ctx.prover) as typeof ctx.prover, {
    run: () => Promise.reject(new Error('not now')),
  })
  const stop = startSweeper({ ...ctx, metrics, prover })
  try {
    t.mock.timers.tick(60_000)
    await eventually(async () => swept.has('audit of the books'), 'a start counts as a run until there is one', 60_000)
    const shown = swept.get('audit of the books')!
    assert.ok(Math.abs(shown - startMs) < 10_000, `${shown} at ${startMs}`)
    await eventually(async () => audits.length > 0, 'the last audit is shown', 60_000)
    t.mock.timers.tick(60_000)
    await eventually(async () => audits.length > 1, 'it is shown again', 60_000)
    assert.equal(swept.get('audit of the books'), shown)
  } finally {
    stop()
  }
})

// The last one: it leaves the other sweeps under way.
test('a sweep that takes longer than its interval does not overlap itself', async (t) => {
  const intervalMs = 10 * 60_000
  let begun = 0
  let release = () => {}
  const sweep = () => {
    begun++
    return new Promise<number>((resolve) => (release = () => resolve(0)))
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  const blobs = Object.assign(Object.create(world.api.ctx.blobs as object) as typeof world.api.ctx.blobs, { sweep })
  const stop = startSweeper({ ...world.api.ctx, blobs })
  try {
    t.mock.timers.tick(intervalMs)
    assert.equal(begun, 1)
    for (let i = 0; i < 3; i++) t.mock.timers.tick(intervalMs)
    assert.equal(begun, 1, 'the first one still runs')
    release()
    await eventually(async () => {
      t.mock.timers.tick(intervalMs)
      return begun === 2
    }, 'the next one runs once the first has ended')
  } finally {
    release()
    stop()
  }
})
