import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { startEndpoint } from '../../../../../../tests/support/remote-agents.ts'
import { send } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import type { TestTenant } from '#testing/test-api.ts'

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

test('a remote agent is launched at once while hosted sessions take all of a worker', { timeout: 30_000 }, async (t) => {
  const endpoint = await startEndpoint(t, () => 204)
  const hosted = [await launch({}), await launch({}, await world.api.makeTenant('Quay'))]
  const runner = await world.startRunner(2)
  for (const { status } of hosted) await eventually(async () => (await status()) === 'running', 'each tenant takes half of it')
  await launch({ endpoint: endpoint.url })
  await eventually(async () => endpoint.requests.length === 1, 'the endpoint is called')
  await runner.stop()
})
