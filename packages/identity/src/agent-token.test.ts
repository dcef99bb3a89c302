import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, admitAgent, type Agent, type FindListStatus, type RejectionReason } from './admit.ts'
import { AGENT_TOKEN_TYPE, isAgentToken, verifyAgentToken } from './agent-token.ts'
import { type TokenDetail, verifyIdToken } from './id-token.ts'
import { ProviderKeys } from './provider-keys.ts'
import { createTestDevice, createTestProvider } from './testing/provider.ts'

const nowMs = Date.UTC(2026, 10, 20, 12)
const now = nowMs / 1000
const platform = await createTestProvider({ issuer: 'https://api.example', audience: 'https://spaces.example', now: () => nowMs })
const stranger = await createTestProvider({ issuer: 'https://api.example', audience: 'https://spaces.example', now: () => nowMs })
const keys = new ProviderKeys({ issuer: platform.issuer, fetchJson: platform.fetchJson, now: () => nowMs })
const expected = { keys, issuer: platform.issuer, audience: 'https://spaces.example', nowMs }

const id = 'agt_0123456789abcdefghijAB'
const noPerson = { email: undefined, email_verified: undefined }
const { spk, nonce } = await createTestDevice()
const typed = { typ: AGENT_TOKEN_TYPE }
const sign = (claims: object = {}, header: object = {}, by = platform) =>
  by.sign({ sub: id, name: 'Scribe', nonce, ...noPerson, ...claims }, { ...typed, ...header })

test("an agent's token identifies the agent, and its e-mail claim is ignored", async () => {
  for (const claims of [{}, { email: 'ann@example.com', email_verified: true }]) {
    const verdict = await verifyAgentToken(await sign(claims), expected)
    const said = { iss: platform.issuer, sub: id, nonce, iat: now, exp: now + 3600, name: 'Scribe' }
    assert.deepEqual(verdict, { ok: true, claims: said })
  }
})

const refused: readonly [string, Promise<string>, TokenDetail][] = [
  ['a token typed as a person’s', sign({}, { typ: 'JWT' }), 'malformed'],
  ['a token without a type', sign({}, { typ: undefined }), 'malformed'],
  ['the type in other capitals', sign({}, { typ: 'Agent+JWT' }), 'malformed'],
  ['another key under the same kid', sign({}, {}, stranger), 'bad_signature'],
  ['another algorithm', sign().then((token) => token.replace(/^[^.]+/, headerOf({ alg: 'none', ...typed }))), 'bad_signature'],
  ['a subject that is no agent', sign({ sub: 'account-1' }), 'malformed'],
  ['no subject', sign({ sub: undefined }), 'malformed'],
  ['no nonce', sign({ nonce: undefined }), 'malformed'],
  ['another issuer', sign({ iss: 'https://id.example' }), 'bad_issuer'],
  ['another audience', sign({ aud: 'https://elsewhere.example' }), 'bad_aud'],
  ['an expired token, from this second on', sign({ exp: now }), 'expired'],
  ['a token that is older than 45 seconds, whatever it says', sign({ iat: now - 46, exp: now + 3600 }), 'expired'],
  ['a token of more than 15 seconds ahead', sign({ iat: now + 16, exp: now + 3600 }), 'not_yet_valid'],
]

for (const [name, token, reason] of refused) {
  test(`${reason}: ${name}`, async () => {
    assert.deepEqual(await verifyAgentToken(await token, expected), { ok: false, reason })
  })
}

test('a token is valid for 45 seconds, and also from a clock that is 15 seconds ahead', async () => {
  for (const claims of [{ iat: now - 45 }, { iat: now + 15 }, { exp: now + 1 }])
    assert.equal((await verifyAgentToken(await sign(claims), expected)).ok, true, JSON.stringify(claims))
})

test('where one issuer signs for both, an agent’s token is still no person’s, and a person’s no agent’s', async () => {
  const person = await platform.sign({ sub: id, nonce })
  assert.deepEqual(await verifyIdToken(person, expected).then(({ ok }) => ok), true)
  assert.deepEqual(await verifyAgentToken(person, expected), { ok: false, reason: 'malformed' })
  const agent = await sign({ email: 'ann@example.com', email_verified: true })
  assert.deepEqual(await verifyIdToken(agent, expected), { ok: false, reason: 'malformed' })
  assert.deepEqual([isAgentToken(agent), isAgentToken(person)], [true, false])
})

test('whatever is no token is no agent’s token either', () => {
  for (const token of [undefined, null, '', 'x', {}, 'a.b.c', `${'a'.repeat(17_000)}.b.c`])
    assert.equal(isAgentToken(token), false)
})

test('an agent is admitted in the contract’s order, and the list is asked for its id', async () => {
  const closed: FindListStatus<Agent> = () => assert.fail('the list was opened')
  const attempt = async (shown: object, list: FindListStatus<Agent> = closed) => {
    const admission = await admitAgent(shown, expected, list)
    return admission.ok ? admission.principal : admission.reason
  }
  const idToken = await sign()
  const other = await createTestDevice()
  const reasons: [object, RejectionReason][] = [
    [{}, 'unsigned'],
    [{ idToken }, 'unsigned'],
    [{ spk }, 'unsigned'],
    [{ idToken: await sign({ exp: 1 }), spk: other.spk }, 'token: expired'],
    [{ idToken, spk: other.spk }, 'nonce_mismatch'],
  ]
  for (const [shown, reason] of reasons) assert.equal(await attempt(shown), reason)
  assert.equal(await attempt({ idToken, spk }, async () => 'absent'), 'not_on_list')
  assert.equal(await attempt({ idToken, spk }, async () => 'revoked'), 'revoked')
  const listed = await attempt({ idToken, spk }, async (agent) => (agent.id === id ? 'listed' : 'absent'))
  assert.deepEqual(listed, { id, issuer: platform.issuer, name: 'Scribe' })
  const asPerson = await admit({ idToken, spk }, expected, async () => 'listed')
  assert.deepEqual(asPerson, { ok: false, reason: 'token: malformed' })
})

function headerOf(header: object): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url')
}
