import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { decodeJwt } from 'jose'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { assertError } from '#testing/http.ts'
import { beginSlowly } from '#testing/slow-request.ts'
import { startSessionWorld, type SessionWorld } from '#testing/session-world.ts'

let world: SessionWorld
before(async () => {
  // Without a worker: these tests hand the control token to the remote agent.
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

const { spk: jwk, nonce } = await createTestDevice()
const spk = { kty: jwk.kty!, crv: jwk.crv!, x: jwk.x!, y: jwk.y! }

/** A session whose remote agent has received its launch request. */
async function launched() {
  const agentId = await world.makeAgent()
  const room = world.newRoom()
  const { id, control_token: launcherToken } = (await world.launch(agentId, room, await world.makeCoupon(5))).body.data
  const agentToken = newCredential('controlToken')
  const { pool } = world.api.ctx.db
  await pool.query('update sessions set agent_control_hash = $2 where id = $1', [id, hashCredential(agentToken)])
  return { id: id as string, agentId, room, launcherToken: launcherToken as string, agentToken }
}

const ask = (id: string, token: string, body: object = { spk }) => world.control('POST', `/sessions/${id}/id-token`, token, body)

test('a remote agent receives a token for its own device key, and enters the room as that agent', async () => {
  const { id, agentId, room, agentToken } = await launched()
  const got = await ask(id, agentToken)
  assert.equal(got.status, 200, got.text)
  assert.equal(got.headers.get('cache-control'), 'no-store')
  const { id_token: idToken, expires_at: expiresAt, ...rest } = got.body.data
  assert.deepEqual(rest, {})
  const { sub, exp, nonce: bound } = decodeJwt(idToken)
  assert.deepEqual([sub, bound, new Date(exp! * 1_000).toISOString()], [agentId, nonce, expiresAt])
  const said = await world.space.call('turn', { ...room, idToken, spk, message: { text: 'Here I am.' } })
  assert.equal(said.status, 200, JSON.stringify(said.body))
  const [entry] = await world.entries(room)
  assert.deepEqual(entry?.author, { kind: 'agent', id: agentId, name: 'Echo', key: nonce })
})

test('a token lasts 45 seconds, and no longer than its session may', async () => {
  const { id, agentToken } = await launched()
  const whole = decodeJwt((await ask(id, agentToken)).body.data.id_token)
  assert.equal(whole.exp! - whole.iat!, 45)
  const { pool } = world.api.ctx.db
  await pool.query("update sessions set expires_at = now() + interval '20 seconds' where id = $1", [id])
  const { exp, iat } = decodeJwt((await ask(id, agentToken)).body.data.id_token)
  assert.ok(exp! - iat! <= 20, `${exp! - iat!}`)
})

test("a launcher's token issues no ID token", async () => {
  const { id, launcherToken } = await launched()
  assertError(await ask(id, launcherToken), 403, 'not_authorized')
})

test('another session is 404 as if it did not exist, and an unknown token is 401', async () => {
  const [one, two] = [await launched(), await launched()]
  assertError(await ask(one.id, two.agentToken), 404, 'not_found')
  assertError(await ask('ses_0123456789abcdefghijAB', two.agentToken), 404, 'not_found')
  assertError(await ask(one.id, newCredential('controlToken')), 401, 'unauthorized')
  assertError(await ask(one.id, world.tenant.secretKey), 401, 'unauthorized')
})

test('a session that has ended issues no token', async () => {
  const { id, agentToken, launcherToken } = await launched()
  await world.control('POST', `/sessions/${id}/stop`, launcherToken)
  assertError(await ask(id, agentToken), 409, 'state_conflict')
})

test('a session that is stopped while the body of a request arrives issues no token', async (t) => {
  const [stopped, active] = [await launched(), await launched()]
  const { db } = world.api.ctx
  const query = db.query.bind(db)
  /** Resolves once the server has authenticated the request. */
  const begin = async ({ id, agentToken }: { id: string; agentToken: string }) => {
    const found = Promise.withResolvers<unknown[]>()
    const mocked = t.mock.method(db, 'query', async (...args: Parameters<typeof query>) => {
      const rows = await query(...args)
      if (args[0].name === 'sessions-by-control-token') found.resolve(rows)
      return rows
    })
    const slow = await beginSlowly(`${world.api.origin}/sessions/${id}/id-token`, agentToken, { spk })
    assert.equal((await found.promise).length, 1)
    mocked.mock.restore()
    return slow
  }
  const [late, slow] = [await begin(stopped), await begin(active)]
  assert.equal((await world.control('POST', `/sessions/${stopped.id}/stop`, stopped.launcherToken)).status, 200)
  // A body that arrives within a second is slow for no client.
  await delay(1_100)
  for (const { end } of [late, slow]) end()
  assert.deepEqual(await late.answered, { status: 409, code: 'state_conflict' })
  assert.deepEqual(await slow.answered, { status: 200, code: undefined })
})

test('only the public part of an EC P-256 key receives a token', async () => {
  const { id, agentToken } = await launched()
  const bad = [{}, { spk: 'x' }, { spk: { ...spk, x: spk.y } }, { spk: { ...spk, crv: 'P-384' } }, { spk: { ...spk, d: spk.x } }]
  for (const body of bad) assertError(await ask(id, agentToken, body), 400, 'invalid_request')
})
