import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { hashCredential, newCredential } from '../../packages/server/src/crypto/random.ts'
import { startSessionWorld, type SessionWorld } from '../../packages/server/testing/session-world.ts'

let world: SessionWorld
before(async () => {
  // Without a worker, because the test itself is the remote agent.
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

test('60 seconds after a session has ended, the token that its agent got last opens no room', async (t) => {
  const room = world.newRoom()
  const { id, control_token: launcher } = (await world.launch(await world.makeAgent(), room, await world.makeCoupon(5))).body.data
  const agentToken = newCredential('controlToken')
  const { pool } = world.api.ctx.db
  await pool.query('update sessions set agent_control_hash = $2 where id = $1', [id, hashCredential(agentToken)])
  await world.say(room, 'hello')
  const { spk: jwk } = await createTestDevice()
  const spk = { kty: jwk.kty!, crv: jwk.crv!, x: jwk.x!, y: jwk.y! }
  const issued = await world.control('POST', `/sessions/${id}/id-token`, agentToken, { spk })
  const idToken = issued.body.data.id_token as string
  const enter = async () => {
    const { status, body } = await world.space.call('poll', { ...room, idToken, spk })
    return status === 200 ? 'in' : (body.reason as string)
  }
  assert.equal(await enter(), 'in')
  await world.control('POST', `/sessions/${id}/stop`, launcher)
  const endedAt = Date.now()
  while ((await enter()) === 'in') {
    assert.ok(Date.now() - endedAt < 60_000, 'it is rejected within 60 seconds of the end')
    await delay(500)
  }
  t.diagnostic(`refused ${Math.round((Date.now() - endedAt) / 1_000)} s after the end`)
  assert.equal(await enter(), 'token: expired')
  assert.equal((await world.control('POST', `/sessions/${id}/id-token`, agentToken, { spk })).body.error.code, 'state_conflict')
})
