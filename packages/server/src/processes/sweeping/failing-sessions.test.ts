import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { passesOnce } from '#testing/busy-machine.ts'
import { send, sendUntilServed } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { holdSweeps, sweepUntil } from '#testing/sweep-until.ts'
import { startSweeper } from '../sweeper.ts'

/** Sessions with this price cannot be ended for a while. */
const stuckPrice = 5
const freePrice = 7
/** More than are ended at once. */
const stuckCount = 130
const freeCount = 5
let world: SessionWorld
before(async () => {
  world = await startSessionWorld({ runner: false })
  await run(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$`)
})
afterEach(async () => {
  await run('drop trigger if exists refused on sessions')
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})
after(() => world.close())

const run = (sql: string) => world.api.ctx.db.pool.query(sql)
const left = async () =>
  (await run(`select price, count(*)::int as count from sessions where status = 'running' group by 1 order by 1`)).rows

async function launchAll(priceCredits: number, count: number): Promise<string> {
  const coupon = await world.makeCoupon(count * priceCredits)
  const agentId = await world.makeAgent({ price_credits: priceCredits })
  for (let done = 0; done < count; done += 10) {
    const launch = () =>
      sendUntilServed(world.api, 'POST', '/sessions', {
        key: world.tenant.secretKey,
        idempotencyKey: randomUUID(),
        body: { agent_id: agentId, room: world.newRoom(), coupon },
      })
    const some = Array.from({ length: Math.min(10, count - done) }, launch)
    for (const { status, text } of await Promise.all(some)) assert.equal(status, 201, text)
  }
  return coupon
}

/** Sessions that worked, of which many cannot be ended, and a coupon that expires. */
async function launchStuckAndFree() {
  const coupons = { stuck: await launchAll(stuckPrice, stuckCount), free: await launchAll(freePrice, freeCount) }
  await run(`update sessions set status = 'running', joined_at = now() where status = 'launching'`)
  await run(
    `create trigger refused before update on sessions for each row when (old.price = ${stuckPrice} and new.status <> 'running') execute function refuse()`,
  )
  const { secretKey: key } = world.tenant
  const wallet = await world.makeCoupon(4)
  // A busy machine may take longer than a second to ask.
  await passesOnce(async (n) => {
    const body = { amount: 4, wallet_code: wallet, expires_at: new Date(Date.now() + n * 1_000).toISOString() }
    const granted = await send(world.api, 'POST', '/wallets/grant', { key, idempotencyKey: randomUUID(), body })
    assert.equal(granted.status, 201, granted.text)
  })
  return { coupons, isReturned: async () => (await world.balance(wallet)).balance === 4 }
}

test('while 130 overdue sessions cannot be ended, other sessions end and coupons expire', async (t) => {
  const { coupons, isReturned } = await launchStuckAndFree()
  await run(`update sessions set expires_at = now() - interval '15 minutes' where status = 'running'`)
  await run(`update ledger_due set due_at = now() - interval '1 minute' where id in (select id from ledger_holds)`)
  holdSweeps(t)
  const stop = startSweeper(world.api.ctx)
  try {
    await sweepUntil(t, world.api.ctx, async () => (await left()).length === 1, 'those that can be ended are ended')
    await sweepUntil(t, world.api.ctx, isReturned, 'the coupon returns')
    assert.deepEqual(await left(), [{ price: stuckPrice, count: stuckCount }])
    assert.deepEqual(await world.balance(coupons.free), { balance: 0, held: 0 })
    assert.equal((await world.balance(coupons.stuck)).held, stuckCount * stuckPrice, 'no hold is released unpaid')
    await run('drop trigger refused on sessions')
    await sweepUntil(t, world.api.ctx, async () => (await left()).length === 0, 'the others are ended')
  } finally {
    stop()
  }
  assert.deepEqual(await world.balance(coupons.stuck), { balance: 0, held: 0 })
})

test('while 130 sessions of a suspended tenant cannot be ended, its other sessions end', async (t) => {
  const { coupons, isReturned } = await launchStuckAndFree()
  const path = `/tenants/${world.tenant.id}/status`
  const setStatus = (status: string) =>
    send(world.api, 'POST', path, { headers: { 'x-admin-token': world.api.adminToken }, body: { status } })
  assert.equal((await setStatus('suspended')).status, 200)
  holdSweeps(t)
  const stop = startSweeper(world.api.ctx)
  try {
    await sweepUntil(t, world.api.ctx, async () => (await left()).length === 1, 'those that can be ended are ended')
    assert.deepEqual(await left(), [{ price: stuckPrice, count: stuckCount }])
    await run('drop trigger refused on sessions')
    await sweepUntil(t, world.api.ctx, async () => (await left()).length === 0, 'the others are ended')
    assert.equal((await setStatus('active')).status, 200)
    await eventually(async () => (await world.balance(coupons.free)).held === 0, 'the tenant is active again', 60_000)
    await sweepUntil(t, world.api.ctx, isReturned, 'the coupon returns')
  } finally {
    stop()
  }
  assert.deepEqual(await world.balance(coupons.stuck), { balance: 0, held: 0 })
})
