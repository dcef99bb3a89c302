import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { assertError } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { claimSessions } from './running/lease-store.ts'
import { runModelSession } from './running/run-model-session.ts'
import { SessionLease } from './running/session-lease.ts'
import { endOverdue } from './session-transitions.ts'

let world: SessionWorld
before(async () => {
  // Without a worker: nothing ends a session when its time is up, until a test does.
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

async function launch(manifest: object = {}) {
  const [room, coupon] = [world.newRoom(), await world.makeCoupon(5)]
  const got = await world.launch(await world.makeAgent(manifest), room, coupon)
  assert.equal(got.status, 201, got.text)
  return { id: got.body.data.id as string, token: got.body.data.control_token as string, room, coupon }
}
type Launched = Awaited<ReturnType<typeof launch>>

const endTime = ({ id }: Launched) => world.api.ctx.db.pool.query('update sessions set expires_at = now() where id = $1', [id])

async function endingOf({ id, token, coupon }: Launched) {
  await endOverdue(world.api.ctx, 10)
  const { status, charged_credits: charged } = (await world.control('GET', `/sessions/${id}`, token)).body.data
  const events = (await pullEvents(world.api, world.tenant)).filter(({ data }) => data['session_id'] === id)
  const { balance, held } = await world.balance(coupon)
  return { status, charged, balance, held, events: events.map(({ type }) => type) }
}

const unpaid = { status: 'expired', charged: 0, balance: 5, held: 0, events: ['session.stopped'] }

test('a remote agent that comes when the time of its session is up is not paid', async () => {
  const late = await launch()
  const agentToken = newCredential('controlToken')
  await world.api.ctx.db.pool.query('update sessions set agent_control_hash = $2 where id = $1', [
    late.id,
    hashCredential(agentToken),
  ])
  await endTime(late)
  assertError(await world.control('POST', `/sessions/${late.id}/joined`, agentToken), 409, 'state_conflict')
  assert.deepEqual(await endingOf(late), unpaid)
})

test('one that came in time may report so again until its session is ended, and is paid', async () => {
  const session = await launch()
  const agentToken = newCredential('controlToken')
  await world.api.ctx.db.pool.query('update sessions set agent_control_hash = $2 where id = $1', [
    session.id,
    hashCredential(agentToken),
  ])
  const join = () => world.control('POST', `/sessions/${session.id}/joined`, agentToken)
  assert.equal((await join()).status, 200)
  await endTime(session)
  assert.equal((await join()).status, 200)
  assert.deepEqual(await endingOf(session), {
    status: 'expired',
    charged: 5,
    balance: 0,
    held: 0,
    events: ['session.started', 'session.joined', 'session.stopped'],
  })
})

test('a hosted agent that comes too late is not paid either, and says nothing', { timeout: 20_000 }, async () => {
  const late = await launch({ greeting: 'Hello!' })
  const { ctx } = world.api
  const lease = new SessionLease(ctx.db, 'req_late', late.id, performance.now())
  const [claimed] = await claimSessions(ctx.db, lease.owner, { kind: 'hosted', free: 1, perTenant: 1, running: [] })
  assert.equal(claimed!.session.id, late.id)
  await endTime(late)
  await runModelSession(ctx, { session: claimed!.session, lease, signal: new AbortController().signal })
  assert.deepEqual(await world.entries(late.room), [])
  assert.deepEqual(await endingOf(late), unpaid)
})

test('the ledger is consistent after all tests', async () => {
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})
