import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventSpecs, type EventType } from '@atrium/contract/event-types'
import { Compile } from 'typebox/compile'
import { send } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { endOverdue } from './session-transitions.ts'
import { noteContact } from '#db/contact-store.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld()
})
after(() => world.close())

interface Told {
  type: EventType
  data: Record<string, unknown>
}

/** The events of a session, in order. */
async function toldOf(id: string): Promise<[EventType, Record<string, unknown>][]> {
  const got = await send(world.api, 'GET', '/events?limit=200', { key: world.tenant.secretKey })
  const events = (got.body.data as Told[]).filter(({ data }) => data['session_id'] === id)
  for (const { type, data } of events) assert.ok(Compile(eventSpecs[type].data).Check(data), JSON.stringify(data))
  return events.map(({ type, data }) => [type, data])
}

async function launchOne(manifest: object = {}, more: object = {}) {
  const agentId = await world.makeAgent(manifest)
  const room = world.newRoom()
  const { body, text, status } = await world.launch(agentId, room, await world.makeCoupon(5), more)
  assert.equal(status, 201, text)
  const base = { session_id: body.data.id, agent_id: agentId, room: room.room }
  return { id: body.data.id as string, token: body.data.control_token as string, base }
}

const joined = (id: string) => eventually(async () => (await toldOf(id)).length === 2, 'it is told that it started')

test('a session has its events once when its agent joins, and one when it stops, with its price', async () => {
  const { id, token, base } = await launchOne()
  await joined(id)
  for (let i = 0; i < 2; i++) await world.control('POST', `/sessions/${id}/stop`, token)
  const { joined_at } = (await world.control('GET', `/sessions/${id}`, token)).body.data
  assert.deepEqual(await toldOf(id), [
    ['session.started', base],
    ['session.joined', { ...base, joined_at, price_credits: 5 }],
    ['session.stopped', { ...base, status: 'stopped', charged_credits: 5 }],
  ])
})

test('a session that another worker takes over has no second start event', async () => {
  const { id, token } = await launchOne()
  await joined(id)
  const { pool } = world.api.ctx.db
  const other = await world.startRunner()
  await pool.query('update sessions set lease_owner = null, lease_until = null where id = $1', [id])
  await eventually(
    async () => (await pool.query('select from sessions where id = $1 and lease_owner is not null', [id])).rowCount === 1,
    'another run has it',
  )
  await other.stop()
  await world.control('POST', `/sessions/${id}/stop`, token)
  assert.deepEqual(
    (await toldOf(id)).map(([type]) => type),
    ['session.started', 'session.joined', 'session.stopped'],
  )
})

test('a session whose time is up has a stop event, by expiry', async () => {
  const { id, base } = await launchOne()
  await joined(id)
  await world.api.ctx.db.pool.query('update sessions set expires_at = now() where id = $1', [id])
  await endOverdue(world.api.ctx, 10)
  assert.deepEqual((await toldOf(id))[2], ['session.stopped', { ...base, status: 'expired', charged_credits: 5 }])
})

test('a session whose agent cannot be reached has a failure event and no start event', async () => {
  const { id, base } = await launchOne({ endpoint: 'http://127.0.0.1:9876/agent' })
  const { pool } = world.api.ctx.db
  await noteContact(world.api.ctx.db)
  await pool.query(`update sessions set created_at = now() - interval '31 seconds' where id = $1`, [id])
  // The first contact after an outage.
  await pool.query(`update database_contact set since = now() - interval '1 hour', last_at = now() - interval '17 seconds'`)
  await noteContact(world.api.ctx.db)
  await endOverdue(world.api.ctx, 10)
  assert.deepEqual(await toldOf(id), [], 'while the database was away the agent could not say that it came')
  await pool.query(`update database_contact set since = now() - interval '31 seconds'`)
  await endOverdue(world.api.ctx, 10)
  const [[type, data] = []] = await toldOf(id)
  assert.deepEqual([type, data], ['session.failed', { ...base, error_code: 'agent_never_came', charged_credits: 0 }])
})

test('a pending launch that expires has no event, because it never was a session', async () => {
  const { id } = await launchOne({}, { arm: true })
  await world.api.ctx.db.pool.query('update sessions set expires_at = now() where id = $1', [id])
  await endOverdue(world.api.ctx, 10)
  assert.deepEqual(await toldOf(id), [])
})
