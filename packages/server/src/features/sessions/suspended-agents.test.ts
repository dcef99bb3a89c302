import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { assertError, send } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { deleteBlobs } from '../blob-deletions/delete-blobs.ts'
import { eraseTenants } from '../tenant-data/erase-tenants.ts'
import { auditLedger } from '../credits/ledger/audit-store.ts'
import { endOverdue } from './session-transitions.ts'

let world: SessionWorld
before(async () => {
  // Without a worker: these tests do its work.
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

const { spk: jwk } = await createTestDevice()
const spk = { kty: jwk.kty!, crv: jwk.crv!, x: jwk.x!, y: jwk.y! }

const operator = (path: string, status: string) =>
  send(world.api, 'POST', path, { headers: { 'x-admin-token': world.api.adminToken }, body: { status } })
const moderate = (agentId: string, status: string) => operator(`/operator/agents/${agentId}/status`, status)

/** A session whose remote agent has joined. */
async function running(agentId: string) {
  const coupon = await world.makeCoupon(5)
  const { id, control_token: control } = (await world.launch(agentId, world.newRoom(), coupon)).body.data
  const token = newCredential('controlToken')
  const sql = "update sessions set agent_control_hash = $2, status = 'running', joined_at = now() where id = $1"
  await world.api.ctx.db.pool.query(sql, [id, hashCredential(token)])
  return { id: id as string, control: control as string, token, coupon }
}

const askToken = async ({ id, token }: { id: string; token: string }) => {
  const { status, body } = await world.control('POST', `/sessions/${id}/id-token`, token, { spk })
  return [status, body.error?.code]
}

test('neither an agent that an operator holds nor one of a suspended tenant receives an ID token', async () => {
  const other = await world.api.makeTenant('Other')
  const agentId = await world.makeAgent({}, other)
  const session = await running(agentId)
  assert.deepEqual(await askToken(session), [200, undefined])
  assert.equal((await moderate(agentId, 'pending')).status, 200)
  assert.deepEqual(await askToken(session), [403, 'not_authorized'])
  await moderate(agentId, 'lifted')
  assert.deepEqual(await askToken(session), [200, undefined])
  await operator(`/tenants/${other.id}/status`, 'suspended')
  assert.deepEqual(await askToken(session), [403, 'not_authorized'])
  await operator(`/tenants/${other.id}/status`, 'active')
  assert.deepEqual(await askToken(session), [200, undefined])
})

test('suspending an agent stops all its sessions and settles them, and no other agent’s', async () => {
  const [agentId, bystander] = [await world.makeAgent(), await world.makeAgent()]
  const came = []
  for (let i = 0; i < 23; i++) came.push(await running(agentId))
  const other = await running(bystander)
  const coupon = await world.makeCoupon(5)
  const coming = (await world.launch(agentId, world.newRoom(), coupon)).body.data
  assert.equal((await moderate(agentId, 'suspended')).body.data.status, 'suspended')
  for (const { id, control, coupon: spent } of came) {
    const { status, charged_credits: charged } = (await world.control('GET', `/sessions/${id}`, control)).body.data
    assert.deepEqual([status, charged], ['stopped', 5])
    assert.equal((await world.balance(spent)).held, 0)
  }
  const { status, charged_credits: charged } = (await world.control('GET', `/sessions/${coming.id}`, coming.control_token)).body
    .data
  assert.deepEqual([status, charged], ['stopped', 0], 'it had not come')
  assert.deepEqual(await world.balance(coupon), { balance: 5, held: 0, currency: 'credits' })
  assert.equal((await world.control('GET', `/sessions/${other.id}`, other.control)).body.data.status, 'running')
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})

test('a session that begins after the suspension of its agent was lifted goes on, although the suspension still ends sessions', async (t) => {
  const agentId = await world.makeAgent()
  const { ctx } = world.api
  const suspended = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  const stop = ctx.stopSessionsOfAgent
  t.mock.method(ctx, 'stopSessionsOfAgent').mock.mockImplementationOnce(async (...args) => {
    suspended.resolve()
    await goesOn.promise
    return stop(...args)
  })
  const suspending = moderate(agentId, 'suspended')
  await suspended.promise
  assert.equal((await moderate(agentId, 'lifted')).status, 200)
  const { id, control } = await running(agentId)
  goesOn.resolve()
  assert.equal((await suspending).status, 200)
  assert.equal((await world.control('GET', `/sessions/${id}`, control)).body.data.status, 'running')
  assert.equal((await moderate(agentId, 'suspended')).status, 200)
  assert.equal((await world.control('GET', `/sessions/${id}`, control)).body.data.status, 'stopped')
})

test('a suspended tenant’s sessions end and are settled, and those of its agents; its pending launches stay', async () => {
  const { pool } = world.api.ctx.db
  const suspended = await world.api.makeTenant('Suspended')
  const [itsAgent, otherAgent] = [await world.makeAgent({}, suspended), await world.makeAgent()]
  const metered = await world.makeAgent({ credits_per_tool_call: 2 })
  const launch = async (agentId: string, by: { secretKey: string }, amount = 5, more = {}) => {
    const coupon = await world.makeCoupon(amount)
    const body = { agent_id: agentId, room: world.newRoom(), coupon, ...more }
    const got = await send(world.api, 'POST', '/sessions', { key: by.secretKey, idempotencyKey: randomUUID(), body })
    assert.equal(got.status, 201, got.text)
    return { coupon, id: got.body.data.id as string }
  }
  const join = (id: string) => pool.query("update sessions set status = 'running', joined_at = now() where id = $1", [id])
  const stateOf = async ({ id, coupon }: { id: string; coupon: string }) => {
    const { rows } = await pool.query<{ status: string; charged: number }>('select status, charged from sessions where id = $1', [
      id,
    ])
    const { balance, held } = await world.balance(coupon)
    return [rows[0]?.status, rows[0]?.charged, balance, held]
  }
  const [came, coming, pending] = [
    await launch(otherAgent, suspended),
    await launch(otherAgent, suspended),
    await launch(otherAgent, suspended, 5, { arm: true }),
  ]
  const paused = await launch(metered, suspended, 15, { budget_credits: 10 })
  const [elsewhere, bystander] = [await launch(itsAgent, world.tenant), await launch(otherAgent, world.tenant)]
  for (const { id } of [came, paused, elsewhere, bystander]) await join(id)
  await pool.query('update sessions set used = 10, used_tool_calls = 5, paused_at = now() where id = $1', [paused.id])
  assert.equal((await operator(`/tenants/${suspended.id}/status`, 'suspended')).status, 200)
  for (let sweep = 0; sweep < 2; sweep++) await endOverdue(world.api.ctx, 100)
  assert.deepEqual(await stateOf(came), ['stopped', 5, 0, 0])
  assert.deepEqual(await stateOf(coming), ['stopped', 0, 5, 0], 'it had not come')
  assert.deepEqual(await stateOf(paused), ['stopped', 15, 0, 0])
  assert.deepEqual(await stateOf(elsewhere), ['stopped', 5, 0, 0])
  assert.deepEqual(await stateOf(bystander), ['running', 0, 0, 5])
  assert.deepEqual(await stateOf(pending), ['armed', 0, 5, 0], 'it starts once the tenant is active again')
  const { rows } = await pool.query("select from event_outbox where tenant_id = $1 and type = 'session.stopped'", [suspended.id])
  assert.equal(rows.length, 3, 'one event for each')
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
  await operator(`/tenants/${suspended.id}/status`, 'active')
  const later = await launch(otherAgent, suspended)
  await endOverdue(world.api.ctx, 100)
  assert.equal((await stateOf(later))[0], 'launching')
})

test('what fails at the sessions of suspended tenants is tried once, and keeps no overdue session from its end', async (t) => {
  const { ctx } = world.api
  const { pool } = ctx.db
  const suspended = await world.api.makeTenant('Suspended')
  const agentId = await world.makeAgent({}, suspended)
  const body = async () => ({ agent_id: agentId, room: world.newRoom(), coupon: await world.makeCoupon(5) })
  const launch = async () => {
    const got = await send(world.api, 'POST', '/sessions', {
      key: suspended.secretKey,
      idempotencyKey: randomUUID(),
      body: await body(),
    })
    assert.equal(got.status, 201, got.text)
    return got.body.data.id as string
  }
  const stuck = [await launch(), await launch()]
  await pool.query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refused before update on sessions for each row when (old.tenant_id = '${suspended.id}') execute function refuse()`)
  t.after(() => pool.query('drop function refuse cascade'))
  await operator(`/tenants/${suspended.id}/status`, 'suspended')
  const { overdue, suspended: found, failed } = await endOverdue(ctx, 100)
  assert.deepEqual([overdue, found, failed.toSorted()], [0, 2, stuck.toSorted()])

  const session = await running(await world.makeAgent())
  await pool.query("update sessions set expires_at = now() - interval '1 minute' where id = $1", [session.id])
  const query: typeof ctx.db.query = async (statement, values) => {
    if (statement.name === 'sessions-of-suspended') throw new Error('it takes too long')
    return ctx.db.query(statement, values)
  }
  const ended = await endOverdue({ ...ctx, db: { ...ctx.db, query } }, 100)
  assert.deepEqual(
    { ...ended, problem: String(ended.problem) },
    { overdue: 1, suspended: 0, failed: [], problem: 'Error: it takes too long' },
  )
  assert.equal((await world.control('GET', `/sessions/${session.id}`, session.control)).body.data.status, 'expired')
})

test('one session whose row is locked keeps no other from its stop, and a repeat stops it too', async () => {
  const agentId = await world.makeAgent()
  const came = []
  for (let i = 0; i < 13; i++) came.push(await running(agentId))
  const [oldest] = came
  const { pool } = world.api.ctx.db
  const stopped = async () =>
    (await pool.query("select from sessions where agent_id = $1 and status = 'stopped'", [agentId])).rows.length
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from sessions where id = $1 for update', [oldest!.id])
    assertError(await moderate(agentId, 'suspended'), 503, 'unavailable')
    assert.equal(await stopped(), 12)
    await holder.query('commit')
  } finally {
    holder.release(true)
  }
  assert.equal((await moderate(agentId, 'suspended')).status, 200)
  assert.equal(await stopped(), 13)
})

test('a session that the suspension of its agent could not stop is stopped by the sweep, and that of a pending agent stays', async () => {
  const [agentId, heldId] = [await world.makeAgent(), await world.makeAgent()]
  const [session, bystander] = [await running(agentId), await running(heldId)]
  const statusOf = async ({ id, control }: typeof session) =>
    (await world.control('GET', `/sessions/${id}`, control)).body.data.status
  const holder = await world.api.ctx.db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from sessions where id = $1 for update', [session.id])
    assertError(await moderate(agentId, 'suspended'), 503, 'unavailable')
    await holder.query('commit')
  } finally {
    holder.release(true)
  }
  assert.equal((await moderate(heldId, 'pending')).status, 200)
  assert.equal(await statusOf(session), 'running')
  for (let sweep = 0; sweep < 2; sweep++) await endOverdue(world.api.ctx, 100)
  assert.deepEqual([await statusOf(session), await statusOf(bystander)], ['stopped', 'running'])
  assert.equal((await world.balance(session.coupon)).held, 0)
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})

test('a launch that was under way when its agent was suspended launches nothing, and holds no credits', async () => {
  const agentId = await world.makeAgent()
  const coupon = await world.makeCoupon(5)
  const { pool } = world.api.ctx.db
  const holder = await pool.connect()
  try {
    // The launch has found the agent active by the time it waits for the account.
    await holder.query('begin')
    await holder.query('select from ledger_accounts where code_hash = $1 for update', [hashCredential(coupon)])
    const launching = world.launch(agentId, world.newRoom(), coupon)
    await untilBlocked(pool)
    assert.equal((await moderate(agentId, 'suspended')).status, 200)
    await holder.query('commit')
    const { status, body } = await launching
    assert.deepEqual([status, body.error?.code], [400, 'invalid_request'])
  } finally {
    holder.release(true)
  }
  assert.deepEqual(await world.balance(coupon), { balance: 5, held: 0, currency: 'credits' })
  const { rows } = await pool.query('select status from sessions where agent_id = $1', [agentId])
  assert.deepEqual(rows, [])
})

for (const arm of [false, true])
  test(`a ${arm ? 'pending launch' : 'launch'} that was in flight while its tenant was deleted leaves nothing`, async (t) => {
    const { ctx } = world.api
    const agentId = await world.makeAgent()
    const launcher = await world.api.makeTenant('Launcher')
    const coupon = await world.makeCoupon(5)
    const { room, mk } = world.newRoom()
    const atTheRoom = Promise.withResolvers<void>()
    const goesOn = Promise.withResolvers<void>()
    // As in a process that is stopped for more than a minute, and then continues.
    t.mock.method(ctx.agentRooms, 'assertEnters', async () => {
      atTheRoom.resolve()
      await goesOn.promise
      return 0
    })
    const launch = send(world.api, 'POST', '/sessions', {
      key: launcher.secretKey,
      idempotencyKey: randomUUID(),
      body: { agent_id: agentId, room: { room, mk }, coupon, arm },
    })
    await atTheRoom.promise
    const admin = { headers: { 'x-admin-token': world.api.adminToken } }
    const deletion = `/tenants/${launcher.id}/deletion`
    assert.equal((await send(world.api, 'POST', deletion, { ...admin, body: { after_days: 0 } })).status, 202)
    await ctx.db.pool.query(`update tenant_deletions set requested_at = now() - interval '2 minutes' where tenant_id = $1`, [
      launcher.id,
    ])
    await eventually(async () => {
      await eraseTenants(ctx)
      await deleteBlobs(ctx, 1_000)
      return (await send(world.api, 'GET', deletion, admin)).body.data.state === 'done'
    }, 'the deletion ends')
    goesOn.resolve()
    assertError(await launch, 401, 'tenant_suspended')
    const { rows } = await ctx.db.pool.query('select id from sessions where tenant_id = $1', [launcher.id])
    assert.deepEqual(rows, [])
    const { balance, held } = await world.balance(coupon)
    assert.deepEqual([balance, held], [5, 0])
  })

test('a launch that commits while the data of its tenant is being removed is settled before its row goes', async (t) => {
  const { ctx } = world.api
  const { db } = ctx
  const agentId = await world.makeAgent()
  const launcher = await world.api.makeTenant('Launcher')
  const coupon = await world.makeCoupon(5)
  const lane = db.lane.bind(db)
  const checked = Promise.withResolvers<void>()
  const commits = Promise.withResolvers<void>()
  t.mock.method(db, 'lane').mock.mockImplementationOnce((key) => ({
    transaction: (run) =>
      lane(key).transaction(async (tx) => {
        const result = await run(tx)
        checked.resolve()
        await commits.promise
        return result
      }),
  }))
  const launch = send(world.api, 'POST', '/sessions', {
    key: launcher.secretKey,
    idempotencyKey: randomUUID(),
    body: { agent_id: agentId, room: world.newRoom(), coupon },
  })
  await Promise.race([checked.promise, launch.then(({ text }) => assert.fail(text))])
  const admin = { headers: { 'x-admin-token': world.api.adminToken } }
  const deletion = `/tenants/${launcher.id}/deletion`
  assert.equal((await send(world.api, 'POST', deletion, { ...admin, body: { after_days: 0 } })).status, 202)

  let isCommitted = false
  const transaction: typeof db.transaction = (run) =>
    db.transaction((tx) =>
      run({
        ...tx,
        query: async (statement, values) => {
          if (statement.name === 'tenant-erase-sessions' && !isCommitted) {
            isCommitted = true
            commits.resolve()
            assert.equal((await launch).status, 201)
          }
          return tx.query(statement, values)
        },
      }),
    )
  await eraseTenants({ ...ctx, db: { ...db, transaction } })
  assert.ok(isCommitted)
  const requested = "update tenant_deletions set requested_at = now() - interval '2 minutes' where tenant_id = $1"
  await db.pool.query(requested, [launcher.id])
  await eventually(async () => {
    await eraseTenants(ctx)
    await deleteBlobs(ctx, 1_000)
    return (await send(world.api, 'GET', deletion, admin)).body.data.state === 'done'
  }, 'the deletion ends')
  const { rows } = await db.pool.query('select id from sessions where tenant_id = $1', [launcher.id])
  assert.deepEqual(rows, [])
  const { balance, held } = await world.balance(coupon)
  assert.deepEqual([balance, held], [5, 0])
})
