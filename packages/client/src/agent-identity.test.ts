import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { agentIdentity } from './agent-identity.ts'
import { makeDeviceKey } from './device-key.ts'

const key = await makeDeviceKey()
const lifeSeconds = 45
// A machine whose clock is a year behind.
const serverAheadMs = 365 * 24 * 3_600_000

/** The platform's side: tokens of 45 seconds, numbered; or none, while it is away. */
function startIssuer() {
  let away = false
  const asked: unknown[] = []
  const issueIdToken = async ({ id, body }: { id: string; body: unknown }) => {
    asked.push([id, body])
    if (away) throw new Error('away')
    const iat = Math.floor((Date.now() + serverAheadMs) / 1_000)
    const payload = Buffer.from(JSON.stringify({ iat, exp: iat + lifeSeconds, n: asked.length })).toString('base64url')
    return { data: { id_token: `h.${payload}.s` } } as never
  }
  return { issueIdToken, asked, setAway: (is: boolean) => (away = is) }
}

test('a token is asked for once, also by many calls at the same moment, and shown with the key it is for', async () => {
  const issuer = startIssuer()
  const identity = agentIdentity(issuer, 'ses_1', key)
  const shown = await Promise.all([1, 2, 3].map(() => identity.get()))
  assert.deepEqual(issuer.asked, [['ses_1', { spk: key.spk }]])
  assert.equal(new Set(shown.map(({ idToken }) => idToken)).size, 1)
  assert.deepEqual([shown[0]!.spk, shown[0]!.sign], [key.spk, key.sign])
})

test('it is renewed while it is still good for a poll that is held, whatever this clock says, and at once when it was refused as too old', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 })
  t.after(() => mock.timers.reset())
  const issuer = startIssuer()
  const identity = agentIdentity(issuer, 'ses_1', key)
  const first = await identity.get()
  mock.timers.tick(11_000)
  assert.equal((await identity.get()).idToken, first.idToken)
  mock.timers.tick(1_000)
  const second = await identity.get()
  assert.notEqual(second.idToken, first.idToken)
  assert.equal((await identity.get()).idToken, second.idToken)
  identity.expire()
  assert.notEqual((await identity.get()).idToken, second.idToken)
  assert.equal(issuer.asked.length, 3)
})

test('while none is to be had the old one serves, and the platform is not asked at every call; without an old one it fails', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 })
  t.after(() => mock.timers.reset())
  const issuer = startIssuer()
  const identity = agentIdentity(issuer, 'ses_1', key)
  issuer.setAway(true)
  await assert.rejects(identity.get(), /away/)
  issuer.setAway(false)
  const first = await identity.get()
  mock.timers.tick(12_000)
  issuer.setAway(true)
  for (let n = 0; n < 5; n++) assert.equal((await identity.get()).idToken, first.idToken)
  assert.equal(issuer.asked.length, 3)
  issuer.setAway(false)
  mock.timers.tick(4_000)
  assert.notEqual((await identity.get()).idToken, first.idToken)
})

test('once the old one has ended it is not shown any more: the call fails with what kept the new one away, and the next one asks again', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 })
  t.after(() => mock.timers.reset())
  const issuer = startIssuer()
  const identity = agentIdentity(issuer, 'ses_1', key)
  const first = await identity.get()
  issuer.setAway(true)
  mock.timers.tick(lifeSeconds * 1_000)
  await assert.rejects(identity.get(), /away/)
  await assert.rejects(identity.get(), /away/)
  issuer.setAway(false)
  assert.notEqual((await identity.get()).idToken, first.idToken)
})
