import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { endOverdue } from './session-transitions.ts'
import { noteContact } from '#db/contact-store.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

/** Sets the clock of this process. The database has its own. */
const setClock = (t: TestContext, aheadMinutes: number) =>
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMinutes * 60_000 })

async function launch(more: object = {}, manifest: object = { credits_per_1k_tokens: 1 }) {
  const agent = await world.makeAgent(manifest)
  const launched = await world.launch(agent, world.newRoom(), await world.makeCoupon(20), { max_minutes: 5, ...more })
  assert.equal(launched.status, 201, launched.text)
  return launched.body.data
}

for (const aheadMinutes of [-10, 10])
  test(`a session lasts as long as agreed where the clock of the process is wrong by ${aheadMinutes} minutes`, async (t) => {
    setClock(t, aheadMinutes)
    const { id, control_token: token, created_at: createdAt, expires_at: expiresAt } = await launch({ budget_credits: 5 })
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 5 * 60_000)
    await endOverdue(world.api.ctx, 10)
    const coupon = await world.makeCoupon(5)
    const toppedUp = await send(world.api, 'POST', `/sessions/${id}/top-up`, {
      headers: { authorization: `Bearer ${token}` },
      idempotencyKey: randomUUID(),
      body: { coupon, budget_credits: 1 },
    })
    assert.equal(toppedUp.status, 200, toppedUp.text)
  })

test('a session ends in time where the clock of the sweeping process is behind', async (t) => {
  const { id, control_token: token } = await launch()
  await world.api.ctx.db.pool.query("update sessions set status = 'running', expires_at = now() where id = $1", [id])
  setClock(t, -10)
  await endOverdue(world.api.ctx, 10)
  assert.equal((await world.control('GET', `/sessions/${id}`, token)).body.data.status, 'expired')
})

test('a pending launch can be used where the clock of the process is ahead', async (t) => {
  const { summon_key: key, id } = await launch({ arm: true })
  await world.api.ctx.db.pool.query("update sessions set expires_at = now() + interval '5 minutes' where id = $1", [id])
  setClock(t, 10)
  assert.equal((await world.control('POST', '/sessions/summon', '', { summon_key: key })).status, 201)
})

test('a remote agent that never comes fails its session also after the clock of the database was set back', async () => {
  const { id, control_token: token } = await launch({}, { endpoint: 'http://127.0.0.1:9876/agent' })
  const { db } = world.api.ctx
  await noteContact(db)
  await db.pool.query(`update database_contact set since = now() + interval '1 hour', last_at = now() + interval '1 hour'`)
  await noteContact(db)
  // As half a minute later.
  await db.pool.query(`update database_contact set since = since - interval '31 seconds'`)
  await db.pool.query(`update sessions set created_at = now() - interval '31 seconds' where id = $1`, [id])
  await endOverdue(world.api.ctx, 10)
  const { status, error } = (await world.control('GET', `/sessions/${id}`, token)).body.data
  assert.deepEqual([status, error?.code], ['failed', 'agent_never_came'])
})
