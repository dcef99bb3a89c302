import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { limits } from '@atrium/contract/limits'
import { send, type Got } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import type { TestTenant } from '#testing/test-api.ts'

let world: SessionWorld

before(async () => {
  world = await startSessionWorld({ runner: false })
})

after(() => world.close())

function assertFull(got: Got, message: RegExp): void {
  assert.deepEqual([got.status, got.body?.error?.code], [429, 'rate_limited'], got.text)
  assert.equal(got.headers.get('retry-after'), '60')
  assert.match(got.body.error.message, message)
}

async function launchAs(tenant: TestTenant, agentId: string, coupon: string, more: object = {}): Promise<Got> {
  const body = { agent_id: agentId, room: world.newRoom(), coupon, ...more }
  return send(world.api, 'POST', '/sessions', { key: tenant.secretKey, idempotencyKey: randomUUID(), body })
}

/** Copies the row that many times, each with a room of its own. */
async function copySession(id: string, count: number): Promise<void> {
  await world.api.ctx.db.pool.query(
    `insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent_version, is_remote, room, status, mk_sealed, summon_hash, price,
       max_minutes, answered_seq, expires_at)
     select tenant_id, id || n, agent_tenant_id, agent_id, agent_version, is_remote, room || n, status, mk_sealed,
       case when status = 'armed' then sha256(n::text::bytea) end, price, max_minutes, answered_seq, expires_at
     from sessions, generate_series(1, $2) n where id = $1`,
    [id, count],
  )
}

test('a tenant with 500 active sessions cannot launch until one ends; another tenant can', async () => {
  const agentId = await world.makeAgent({ price_credits: 0 })
  const coupon = await world.makeCoupon(5)
  const tenant = await world.api.makeTenant('Crowd')
  const first = await launchAs(tenant, agentId, coupon)
  assert.equal(first.status, 201, first.text)
  await copySession(first.body.data.id, limits.activeSessions - 2)
  const last = await launchAs(tenant, agentId, coupon)
  assert.equal(last.status, 201, last.text)
  assertFull(await launchAs(tenant, agentId, coupon), /500 sessions launching or running/)
  const paying = await world.makeAgent()
  assertFull(await launchAs(tenant, paying, coupon), /500 sessions/)
  assert.deepEqual(
    await world.balance(coupon),
    { balance: 5, held: 0, currency: 'credits' },
    'nothing is held for what is refused',
  )
  assert.equal((await launchAs(tenant, agentId, coupon, { arm: true })).status, 201)
  assert.equal((await launchAs(world.tenant, agentId, coupon)).status, 201)
  await world.control('POST', `/sessions/${first.body.data.id}/stop`, first.body.data.control_token)
  assert.equal((await launchAs(tenant, agentId, coupon)).status, 201)
})

test('a tenant with 10,000 pending launches cannot reserve another, but can launch', async () => {
  const agentId = await world.makeAgent({ price_credits: 0 })
  const coupon = await world.makeCoupon(5)
  const tenant = await world.api.makeTenant('Armed')
  const armed = await launchAs(tenant, agentId, coupon, { arm: true })
  await copySession(armed.body.data.id, limits.pendingLaunches - 1)
  assertFull(await launchAs(tenant, agentId, coupon, { arm: true }), /10000 pending launches/)
  assert.equal((await launchAs(tenant, agentId, coupon)).status, 201)
})

test('a spent coupon neither launches nor reserves, not even a free agent; one with an open hold does', async () => {
  const [free, paid] = [await world.makeAgent({ price_credits: 0 }), await world.makeAgent()]
  const coupon = await world.makeCoupon(5)
  const { id, control_token: token } = (await launchAs(world.tenant, paid, coupon)).body.data
  assert.equal((await launchAs(world.tenant, free, coupon)).status, 201, 'its credits are held')
  await world.api.ctx.db.pool.query('update sessions set joined_at = now() where id = $1', [id])
  await world.control('POST', `/sessions/${id}/stop`, token)
  for (const more of [{}, { arm: true }]) {
    const got = await launchAs(world.tenant, free, coupon, more)
    assert.deepEqual([got.status, got.body.error?.code], [402, 'insufficient_credit'], got.text)
  }
})

test('one tenant takes at most half of a worker, however many sessions it launched first, and claims go round robin', async () => {
  const { pool } = world.api.ctx.db
  await pool.query("update sessions set status = 'stopped', mk_sealed = null where status <> 'armed'")
  const agentId = await world.makeAgent({ price_credits: 0 })
  const coupon = await world.makeCoupon(5)
  const [crowd, one, two] = [await world.api.makeTenant('A'), await world.api.makeTenant('B'), await world.api.makeTenant('C')]
  for (let i = 0; i < 12; i++) await launchAs(crowd, agentId, coupon)
  for (const tenant of [one, one, one, one, two]) await launchAs(tenant, agentId, coupon)
  const running = async () => {
    const sql = "select tenant_id, count(*)::int as count from sessions where status = 'running' group by tenant_id"
    const { rows } = await pool.query<{ tenant_id: string; count: number }>(sql)
    const counts = new Map(rows.map(({ tenant_id: id, count }) => [id, count]))
    return [crowd, one, two].map(({ id }) => counts.get(id) ?? 0)
  }
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b)
  await world.startRunner(6)
  await eventually(async () => sum(await running()) === 6, 'the worker is full')
  assert.deepEqual(await running(), [3, 2, 1])
  await pool.query("update sessions set status = 'stopped', mk_sealed = null where tenant_id = any($1)", [[one.id, two.id]])
  // Capacity stays free for a later tenant, although only the crowded tenant waits.
  await eventually(async () => (await running())[1] === 0, 'the others have ended')
  const late = await launchAs(two, agentId, coupon)
  await eventually(async () => (await running())[2] === 1, 'who comes late runs at once')
  assert.equal(late.status, 201)
  assert.equal((await running())[0], 3)
})
