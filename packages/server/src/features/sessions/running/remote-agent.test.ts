import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { freePort } from '../../../../../../tests/support/atrium-process.ts'
import { startEndpoint } from '../../../../../../tests/support/remote-agents.ts'
import { send } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import type { TestTenant } from '#testing/test-api.ts'
import { claimSessions } from './lease-store.ts'
import { SessionRunner } from './session-runner.ts'

let world: SessionWorld

before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

async function launch(manifest: object, of: TestTenant = world.tenant) {
  const body = { agent_id: await world.makeAgent(manifest), room: world.newRoom(), coupon: await world.makeCoupon(5) }
  const got = await send(world.api, 'POST', '/sessions', { key: of.secretKey, idempotencyKey: randomUUID(), body })
  assert.equal(got.status, 201, got.text)
  const { id, control_token: token } = got.body.data as { id: string; control_token: string }
  return { id, status: async () => (await world.control('GET', `/sessions/${id}`, token)).body.data.status as string }
}

async function rowOf(id: string) {
  const { rows } = await world.api.ctx.db.pool.query<{ lease_owner: string | null; agent_control_hash: Buffer | null }>(
    'select lease_owner, agent_control_hash from sessions where id = $1',
    [id],
  )
  return rows[0]!
}

test('a remote agent is launched at once while hosted sessions take all of a worker', { timeout: 30_000 }, async (t) => {
  const endpoint = await startEndpoint(t, () => 204)
  const hosted = [await launch({}), await launch({}, await world.api.makeTenant('Quay'))]
  const runner = await world.startRunner(2)
  for (const { status } of hosted) await eventually(async () => (await status()) === 'running', 'each tenant takes half of it')
  await launch({ endpoint: endpoint.url })
  await eventually(async () => endpoint.requests.length === 1, 'the endpoint is called')
  await runner.stop()
})

test('a worker that stops after refused connections leaves the launch to another worker', { timeout: 30_000 }, async (t) => {
  const port = await freePort()
  const { id } = await launch({ endpoint: `http://127.0.0.1:${port}/` })
  const refused = Promise.withResolvers<void>()
  const { ctx, databaseUrl } = world.api
  const send: typeof ctx.egress.send = (request) =>
    ctx.egress.send(request).catch((error: unknown) => {
      refused.resolve()
      throw error
    })
  const first = new SessionRunner({ ...ctx, egress: { ...ctx.egress, send } }, databaseUrl, 100)
  t.after(() => first.stop())
  await first.start()
  await refused.promise
  assert.notEqual((await rowOf(id)).agent_control_hash, null)
  await first.stop()
  const endpoint = await startEndpoint(t, () => 204, port)
  const second = await world.startRunner()
  await eventually(async () => endpoint.requests.length === 1, 'the endpoint is called')
  await second.stop()
})

test('after a request that may have arrived, no other worker launches the agent', { timeout: 30_000 }, async (t) => {
  const endpoint = await startEndpoint(t, () => 503)
  const { id, status } = await launch({ endpoint: endpoint.url })
  const first = await world.startRunner()
  await eventually(async () => endpoint.requests.length === 1, 'the endpoint is called')
  await first.stop()
  assert.notEqual((await rowOf(id)).agent_control_hash, null)
  assert.deepEqual(await claimSessions(world.api.ctx.db, 'req_other', { kind: 'remote', free: 9, perTenant: 9, running: [] }), [])
  assert.equal(await status(), 'launching')
})

for (const [key, change] of Object.entries({
  'room key': 'update sessions set mk_sealed = set_byte(mk_sealed, 1, 255 - get_byte(mk_sealed, 1)) where id = $1',
  'signing secret': `update agents set signing_secret = set_byte(signing_secret, 1, 255 - get_byte(signing_secret, 1))
    where id = (select agent_id from sessions where id = $1)`,
}))
  test(`a worker without the master key of the ${key} leaves the launch to one that has it`, { timeout: 30_000 }, async (t) => {
    const endpoint = await startEndpoint(t, () => 204)
    const { id } = await launch({ endpoint: endpoint.url })
    // The bytes 1 to 4 of a sealed value are the id of the master key.
    await world.api.ctx.db.pool.query(change, [id])
    const first = await world.startRunner()
    await eventually(async () => (await rowOf(id)).lease_owner !== null, 'a worker takes it')
    await first.stop()
    assert.equal(endpoint.requests.length, 0)
    await world.api.ctx.db.pool.query(change, [id])
    const second = await world.startRunner()
    await eventually(async () => endpoint.requests.length === 1, 'the endpoint is called')
    await second.stop()
  })

test('a launch whose room key does not open fails at once', { timeout: 30_000 }, async (t) => {
  const endpoint = await startEndpoint(t, () => 204)
  const { id, status } = await launch({ endpoint: endpoint.url })
  const { pool } = world.api.ctx.db
  await pool.query('update sessions set mk_sealed = set_byte(mk_sealed, 90, 255 - get_byte(mk_sealed, 90)) where id = $1', [id])
  const runner = await world.startRunner()
  await eventually(async () => (await status()) === 'failed', 'it fails')
  assert.equal(endpoint.requests.length, 0)
  await runner.stop()
})
