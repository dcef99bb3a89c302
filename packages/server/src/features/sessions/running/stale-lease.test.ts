import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startProviderServer } from '#testing/provider-server.ts'
import { eventually, startSessionWorld, type Room, type SessionWorld } from '#testing/session-world.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import type { Database } from '#db/database.ts'
import { commitEnd } from '../session-transitions.ts'
import type { Session } from '../session.ts'
import { claimSessions, listHeld, updateAnswered } from './lease-store.ts'
import { launchRemote } from './remote-agent.ts'
import { runModelSession, type Run } from './run-model-session.ts'
import { LeaseLostError, SessionLease } from './session-lease.ts'
import { SessionRunner } from './session-runner.ts'

let world: SessionWorld

before(async () => {
  // Without a worker: the tests act as the workers.
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

const kindOf = (manifest: object) => ('endpoint' in manifest ? 'remote' : 'hosted')

/** A session that one worker claimed and another has taken over since. */
async function takenOver(manifest: object) {
  const room = world.newRoom()
  const got = await world.launch(await world.makeAgent(manifest), room, await world.makeCoupon(5))
  assert.equal(got.status, 201, got.text)
  await world.say(room, 'Is anybody there?')
  const { db } = world.api.ctx
  const [claimed] = await claimSessions(db, 'req_stopped', { kind: kindOf(manifest), free: 1, perTenant: 1, running: [] })
  await db.pool.query("update sessions set lease_until = now() - interval '1 second' where id = $1", [claimed!.session.id])
  const [again] = await claimSessions(db, 'req_other', { kind: kindOf(manifest), free: 1, perTenant: 1, running: [] })
  assert.equal(again!.session.id, claimed!.session.id)
  return { room, session: claimed!.session, token: got.body.data.control_token as string }
}

/** The run as the paused worker sees it when it resumes: the claim is older than the lease lasts. */
function staleRun(session: Session): Run {
  const lease = new SessionLease(world.api.ctx.db, 'req_stopped', session.id, performance.now() - 60_000)
  return { session, lease, signal: new AbortController().signal }
}

async function assertUntouched({ session, token, room }: Awaited<ReturnType<typeof takenOver>>): Promise<void> {
  const { status, joined_at: joinedAt } = (await world.control('GET', `/sessions/${session.id}`, token)).body.data
  assert.deepEqual([status, joinedAt], ['launching', null])
  assert.deepEqual(
    (await world.entries(room)).map(({ message }) => message.text),
    ['Is anybody there?'],
  )
  // The next test claims the next session.
  await world.control('POST', `/sessions/${session.id}/stop`, token)
}

test('a worker that resumes after another took its session over neither joins, posts nor ends it', async () => {
  const taken = await takenOver({ greeting: 'Hello!' })
  await runModelSession(world.api.ctx, staleRun(taken.session))
  await assertUntouched(taken)
})

test('a session is taken over from a worker that died before the clock of the database was set back', async () => {
  const { session, token } = await takenOver({})
  const { db } = world.api.ctx
  await db.pool.query("update sessions set lease_until = now() + interval '1 hour' where id = $1", [session.id])
  const [again] = await claimSessions(db, 'req_third', { kind: 'hosted', free: 1, perTenant: 1, running: [] })
  assert.equal(again?.session.id, session.id)
  await world.control('POST', `/sessions/${session.id}/stop`, token)
})

test('nor does it post a farewell and end the session when it fails', async () => {
  // There is no key for this provider: the model fails at once.
  const taken = await takenOver({ model: { provider: 'openai', id: 'gpt-none' } })
  const { ctx } = world.api
  await runModelSession(ctx, staleRun(taken.session))
  const error = { code: 'internal_error', message: 'The server had an internal error.' }
  const after = await commitEnd(ctx, taken.session, { status: 'failed', error }, { leaseOwner: 'req_stopped' })
  assert.equal(after?.status, 'launching')
  await assertUntouched(taken)
})

test('nor does it still hold the session, or record an answer', async () => {
  const taken = await takenOver({})
  const { db } = world.api.ctx
  const { id } = taken.session
  assert.deepEqual([...(await listHeld(db, 'req_stopped', [id])), ...(await listHeld(db, 'req_other', [id]))], [id])
  assert.equal(await updateAnswered(db, taken.session, 'req_stopped', 1), false)
  assert.equal(await updateAnswered(db, taken.session, 'req_other', 1), true)
  await assertUntouched(taken)
})

test('nor does it call a remote agent, or end the launch', async () => {
  const taken = await takenOver({ endpoint: 'http://127.0.0.1:8999/' })
  await assert.rejects(launchRemote(world.api.ctx, staleRun(taken.session)), LeaseLostError)
  await assertUntouched(taken)
})

test('a worker that is paused between the check of its lease and the request posts nothing', async () => {
  const taken = await takenOver({})
  const { lease } = staleRun(taken.session)
  const room = world.api.ctx.agentRooms.open(
    { id: taken.session.agentId, name: 'Echo' },
    taken.room,
    `session:${taken.session.id}`,
  )
  await assert.rejects(room.say({ text: 'I stood still' }, lease.assertFresh), { name: 'LeaseUncertainError' })
  await assert.rejects(lease.confirm(), { name: 'LeaseLostError' })
  await assertUntouched(taken)
})

/** A session whose worker is not told when it ends. */
async function untold(manifest: object) {
  const room = world.newRoom()
  const got = await world.launch(await world.makeAgent(manifest), room, await world.makeCoupon(5))
  assert.equal(got.status, 201, got.text)
  const { id, control_token: token } = got.body.data
  const { db } = world.api.ctx
  const startedAtMs = performance.now()
  const [claimed] = await claimSessions(db, 'req_untold', { kind: kindOf(manifest), free: 1, perTenant: 1, running: [] })
  assert.equal(claimed!.session.id, id)
  const lease = new SessionLease(db, 'req_untold', id, startedAtMs)
  const run: Run = { session: claimed!.session, lease, signal: new AbortController().signal }
  return { room, run, stop: () => world.control('POST', `/sessions/${id}/stop`, token) }
}

const textsIn = async (room: Room) => (await world.entries(room)).map(({ message }) => message.text)

test('a worker that was not told of a stop answers nothing that was said after it', { timeout: 20_000 }, async () => {
  const { room, run, stop } = await untold({ greeting: 'Hello!' })
  const done = runModelSession(world.api.ctx, run)
  await eventually(async () => (await textsIn(room)).includes('Hello!'), 'it greets')
  await stop()
  await world.say(room, 'Still there?')
  await done
  assert.deepEqual(await textsIn(room), ['Hello!', 'Still there?'])
})

test('nor does it ask the model again', { timeout: 20_000 }, async (t) => {
  const provider = await startProviderServer()
  t.after(() => provider.close())
  const body = { openai_compatible: { url: provider.compatibleUrl, key: 'sk-canary-12345' } }
  await send(world.api, 'PUT', '/tenant/provider-keys', { key: world.tenant.secretKey, body })
  const { room, run, stop } = await untold({ model: { provider: 'openai_compatible', id: 'lamp-1' } })
  provider.script({ status: 503, body: { error: { message: 'overloaded' } } })
  await world.say(room, 'Hello?')
  const done = runModelSession(world.api.ctx, run)
  await eventually(async () => provider.requests.length === 1, 'the model is asked')
  await stop()
  await done
  assert.equal(provider.requests.length, 1)
  assert.deepEqual(await textsIn(room), ['Hello?'])
})

test('nor does it send the key of the room to a remote agent', { timeout: 20_000 }, async (t) => {
  let calls = 0
  const endpoint = createServer((_, res) => {
    calls++
    res.end()
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  t.after(() => endpoint.close())
  const { run, stop } = await untold({ endpoint: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/` })
  const { ctx } = world.api
  const holder = await ctx.db.pool.connect()
  try {
    // The worker waits for the agent's secret, with which it signs the request.
    await holder.query('begin')
    await holder.query('lock table agents in access exclusive mode')
    const done = launchRemote(ctx, run)
    await untilBlocked(ctx.db.pool)
    assert.equal((await stop()).status, 200)
    await holder.query('commit')
    await done.catch((error: unknown) => assert.ok(error instanceof LeaseLostError, String(error)))
  } finally {
    holder.release(true)
  }
  assert.equal(calls, 0)
})

test(
  'a session that is topped up while its worker parks it and looks for sessions goes on at once',
  { timeout: 25_000 },
  async (t) => {
    const { ctx, databaseUrl } = world.api
    const room = world.newRoom()
    const model = { provider: 'echo', id: 'echo' }
    const agentId = await world.makeAgent({ model, credits_per_1k_tokens: 1_000 })
    const launched = await world.launch(agentId, room, await world.makeCoupon(10), { budget_credits: 1 })
    assert.equal(launched.status, 201, launched.text)
    const { id, control_token: token } = launched.body.data
    const topUp = async () => {
      const got = await send(world.api, 'POST', `/sessions/${id}/top-up`, {
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() },
        body: { coupon: await world.makeCoupon(1_000), budget_credits: 1_000 },
      })
      assert.equal(got.status, 200, got.text)
    }
    const [looked, parked, claimed] = [1, 2, 3].map(() => Promise.withResolvers<void>())
    let isToppedUp = false
    let isParked = false
    const query: Database['query'] = async (statement, values) => {
      if (statement.name === 'sessions-park' && !isToppedUp) {
        await topUp()
        isToppedUp = true
        await looked!.promise
        const rows = await ctx.db.query(statement, values)
        isParked = true
        parked!.resolve()
        // The run ends only after the worker has claimed what it can.
        await claimed!.promise
        return rows
      }
      if (statement.name === 'sessions-claim-notices' && isToppedUp) {
        // The worker has found that it holds the session, and claims others next.
        looked!.resolve()
        await parked!.promise
      }
      const rows = await ctx.db.query(statement, values)
      if (statement.name === 'sessions-claim' && isParked) setImmediate(claimed!.resolve)
      return rows
    }
    const runner = new SessionRunner({ ...ctx, db: { ...ctx.db, query } }, databaseUrl, 100)
    t.after(() => runner.stop())
    await runner.start()
    await world.say(room, 'Hello?')
    await claimed!.promise
    await world.say(room, 'And now?')
    const answers = async () => (await world.entries(room)).filter(({ message }) => message.text.includes('And now?'))
    // Sooner than a lease that nobody renews expires.
    await eventually(async () => (await answers()).length === 2, 'it answers', 15_000)
    await world.control('POST', `/sessions/${id}/stop`, token)
  },
)
