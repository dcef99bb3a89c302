import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { forgetSessions } from './retention-store.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

const keptDays = 90
const root = () => ({ baseUrl: world.api.origin })
const pool = () => world.api.ctx.db.pool

async function launch(agentId: string): Promise<{ id: string; token: string }> {
  const got = await world.launch(agentId, world.newRoom(), await world.makeCoupon(5))
  assert.equal(got.status, 201, got.text)
  return { id: got.body.data.id, token: got.body.data.control_token }
}

/** Ends the session, that many days ago. */
async function endAgo({ id, token }: { id: string; token: string }, days: number): Promise<void> {
  await world.control('POST', `/sessions/${id}/stop`, token)
  await pool().query('update sessions set stopped_at = now() - make_interval(days => $2) where id = $1', [id, days])
}

const statusOf = async ({ id, token }: { id: string; token: string }) =>
  (await world.control('GET', `/sessions/${id}`, token)).status
const versionsOf = async (agentId: string) =>
  (await pool().query('select from agent_versions where agent_id = $1', [agentId])).rowCount
const change = (agentId: string, body: object) =>
  send(root(), 'PATCH', `/agents/${agentId}`, { key: world.tenant.secretKey, body })

test('an agent is stored once for each version, however often it is launched, and a session keeps the version of its launch', async () => {
  const agentId = await world.makeAgent({ instructions: 'x'.repeat(20_000) })
  const sessions = [await launch(agentId), await launch(agentId), await launch(agentId)]
  assert.equal(await versionsOf(agentId), 1)
  await change(agentId, { tools: [{ mcp: 'https://tools.example/mcp' }] })
  const later = await launch(agentId)
  assert.equal(await versionsOf(agentId), 2)
  const toolsOf = async ({ token }: { token: string }) =>
    (await world.control('GET', `/agents/${agentId}/tools`, token)).body.data.tools.length
  assert.deepEqual(await Promise.all([...sessions, later].map(toolsOf)), [0, 0, 0, 1])
  // A change that does not affect launches makes no version.
  await change(agentId, { description: 'Another.' })
  await launch(agentId)
  assert.equal(await versionsOf(agentId), 2)
})

test('old ended sessions are deleted in batches, the oldest first; active and recent ones, ratings and the books stay', async () => {
  const agentId = await world.makeAgent()
  const [oldest, old, lately, living] = [
    await launch(agentId),
    await launch(agentId),
    await launch(agentId),
    await launch(agentId),
  ]
  await pool().query(`update sessions set joined_at = now(), status = 'running' where id = $1`, [oldest.id])
  await world.control('POST', `/agents/${agentId}/ratings`, oldest.token, { stars: 4 })
  for (const [session, days] of [
    [oldest, 100],
    [old, 91],
    [lately, 89],
  ] as const)
    await endAgo(session, days)
  const { rows: before } = await pool().query('select count(*) from ledger_transfers')
  assert.equal(await forgetSessions(world.api.ctx.db, keptDays, 1), 1)
  assert.deepEqual(await Promise.all([oldest, old, lately, living].map(statusOf)), [401, 200, 200, 200])
  assert.equal(await forgetSessions(world.api.ctx.db, keptDays, 10), 1)
  assert.equal(await forgetSessions(world.api.ctx.db, keptDays, 10), 0)
  assert.deepEqual(await Promise.all([oldest, old, lately, living].map(statusOf)), [401, 401, 200, 200])
  const { data } = (await send(root(), 'GET', `/agents/${agentId}/ratings`, { key: world.tenant.publishableKey })).body
  assert.deepEqual(data, { average: 4, count: 1 })
  assert.deepEqual((await pool().query('select count(*) from ledger_transfers')).rows, before)
})

test('a version is deleted with its last session, and stored again by the next launch', async () => {
  const agentId = await world.makeAgent()
  const [one, two] = [await launch(agentId), await launch(agentId)]
  await endAgo(one, 100)
  await forgetSessions(world.api.ctx.db, keptDays, 10)
  assert.equal(await versionsOf(agentId), 1)
  await endAgo(two, 100)
  await forgetSessions(world.api.ctx.db, keptDays, 10)
  assert.equal(await versionsOf(agentId), 0)
  await launch(agentId)
  assert.equal(await versionsOf(agentId), 1)
})

test('launches concurrent with the sweep of their version succeed or can be repeated, and none is left without its version', async () => {
  const agentId = await world.makeAgent({ price_credits: 0 })
  const coupon = await world.makeCoupon(5)
  for (let round = 0; round < 8; round++) {
    const session = await launch(agentId)
    await endAgo(session, 100)
    const [swept, ...launched] = await Promise.all([
      forgetSessions(world.api.ctx.db, keptDays, 10),
      ...Array.from({ length: 4 }, () => world.launch(agentId, world.newRoom(), coupon)),
    ])
    assert.equal(swept, 1)
    for (const got of launched) {
      assert.ok(got.status === 201 || got.body.error.code === 'unavailable', got.text)
      if (got.status === 201) await endAgo({ id: got.body.data.id, token: got.body.data.control_token }, 0)
    }
    await pool().query('update sessions set stopped_at = now() - make_interval(days => 100) where agent_id = $1', [agentId])
    await forgetSessions(world.api.ctx.db, keptDays, 100)
    assert.equal(await versionsOf(agentId), 0)
  }
})

test('the sweep reads its index, not the table', async () => {
  const { rows } = await pool().query(
    `explain select tenant_id, id from sessions
     where status in ('stopped', 'failed', 'expired') and stopped_at <= now() - make_interval(days => 90) order by stopped_at limit 1000`,
  )
  assert.match(JSON.stringify(rows), /Index Scan using sessions_ended/)
})
