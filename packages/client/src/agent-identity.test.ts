import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { agentIdentity } from './agent-identity.ts'
import { makeDeviceKey } from './device-key.ts'

const key = await makeDeviceKey()
const lifeSeconds = 45
// The server's clock is a year ahead of this machine's.
const serverAheadMs = 365 * 24 * 3_600_000

/** A fake platform that issues numbered tokens of 45 seconds, or fails while it is down. */
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

test('concurrent calls share one token request, and the token is sent with its key', async () => {
  const issuer = startIssuer()
  const identity = agentIdentity(issuer, 'ses_1', key)
  const shown = await Promise.all([1, 2, 3].map(() => identity.get()))
  assert.deepEqual(issuer.asked, [['ses_1', { spk: key.spk }]])
  assert.equal(new Set(shown.map(({ idToken }) => idToken)).size, 1)
  assert.deepEqual([shown[0]!.spk, shown[0]!.sign], [key.spk, key.sign])
})

test('a token is renewed while it is still valid for a long poll, whatever the local clock shows, and at once when it was rejected as expired', async (t) => {
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

test('while the platform is down, the old token is used without a request per call; without an old token the call fails', async (t) => {
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

test('an expired token is not sent: the call fails with the error of the renewal, and the next call tries again', async (t) => {
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
