import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AGENT_TOKEN_TYPE } from '@atrium/identity/agent-token'
import { createTestDevice, createTestProvider } from '@atrium/identity/testing/provider'
import { proofContent } from '@atrium/sealing/proof'
import { fresh, now, proofOf, reasonOf, scribe, spacesUrl, startAgentWorld } from './testing/agent-world.ts'
import { startTestSpace } from './testing/test-space.ts'

const other = 'agt_ZZZZZZZZZZZZZZZZZZZZZZ'

let world: Awaited<ReturnType<typeof startAgentWorld>>
before(async () => {
  world = await startAgentWorld()
})
after(() => world.close())

/** The reason of a read and of a write, which must be the same. */
async function enter(secret: object, identity: object, at = world.space): Promise<string> {
  const read = reasonOf(await at.call('poll', { ...secret, ...identity }))
  assert.equal(reasonOf(await at.call('turn', { ...secret, ...identity, message: { text: 'x' } })), read)
  return read
}

test('an agent on the list reads and writes in an e-mail room, and is named as the author by its id', async () => {
  const { secret, owner } = await world.emailRoom()
  const { identity, device } = await world.agent()
  const said = await world.space.call('turn', { ...secret, ...identity, message: { text: 'Noted.' } })
  assert.equal(said.status, 200, JSON.stringify(said.body))
  const { body } = await world.space.call('poll', { ...secret, ...identity })
  assert.deepEqual(body.entries[0].author, { kind: 'agent', id: scribe, name: 'Scribe', key: device.nonce })
  assert.deepEqual((await world.space.call('poll', { ...secret, ...owner.identity })).body.entries, body.entries)
})

test('every reason for an agent, in the contract’s order, and a rejected write stores nothing', async () => {
  const { secret } = await world.emailRoom()
  const good = await world.agent()
  const stranger = await createTestProvider({ issuer: world.platform.provider.issuer, audience: spacesUrl })
  const otherKey = (await createTestDevice()).spk
  const attempts: [string, object, string][] = [
    ['nothing', {}, 'unsigned'],
    ['no device key', { idToken: good.identity.idToken }, 'unsigned'],
    ['no token', { spk: good.identity.spk }, 'unsigned'],
    ['expired', (await world.agent({ claims: { exp: now() - 120 } })).identity, 'token: expired'],
    ['of tomorrow', (await world.agent({ claims: { iat: now() + 900 } })).identity, 'token: not_yet_valid'],
    ['another issuer', (await world.agent({ claims: { iss: world.idp.provider.issuer } })).identity, 'token: bad_issuer'],
    ['for another service', (await world.agent({ claims: { aud: 'spaces' } })).identity, 'token: bad_aud'],
    ['signed with another key', (await world.agent({ by: stranger })).identity, 'token: bad_signature'],
    ['signed with a key that is unknown', (await world.agent({ header: { kid: 'k2' } })).identity, 'token: bad_signature'],
    ['no agent’s id', (await world.agent({ id: 'ada@example.com' })).identity, 'token: malformed'],
    ['another device’s', { ...good.identity, spk: otherKey }, 'nonce_mismatch'],
    ['off the list', (await world.agent({ id: other })).identity, 'not_on_list'],
    ['wrong twice', { ...(await world.agent({ id: other, claims: { exp: 1 } })).identity, spk: otherKey }, 'token: expired'],
  ]
  for (const [name, identity, reason] of attempts) {
    assert.equal(await enter(secret, identity), `403 not_authorized ${reason}`, name)
  }
  const { rows } = await world.space.db.query('select count from rooms where room = $1', [secret.room])
  assert.equal(rows[0].count, 1)
})

test('an expelled agent gets the reason, also in a held poll, and has access again once admitted', async () => {
  const { secret, owner } = await world.emailRoom({})
  const { identity } = await world.agent()
  const change = async (op: string) => reasonOf(await world.space.call(op, { ...secret, agents: [scribe], ...owner.identity }))
  assert.equal(await enter(secret, identity), '403 not_authorized not_on_list')
  assert.equal(await change('admit'), 'in')
  assert.equal(await enter(secret, identity), 'in')
  const { etag, count } = (await world.space.call('poll', { ...secret, ...identity })).body
  const held = world.space.call('poll', { ...secret, ...identity, sinceEtag: etag, sinceCount: count, waitMs: 10_000 })
  assert.equal(await change('expel'), 'in')
  assert.equal(reasonOf(await held), '403 not_authorized revoked')
  assert.equal(await enter(secret, identity), '403 not_authorized revoked')
  assert.equal(await change('admit'), 'in')
  assert.equal(await enter(secret, identity), 'in')
})

test('an agent is never treated as an account, whatever e-mail address its token contains', async () => {
  const { secret } = await world.emailRoom({})
  for (const email of ['owner@example.com', 'ada@example.com']) {
    const { identity } = await world.agent({ claims: { email, email_verified: true } })
    assert.equal(await enter(secret, identity), '403 not_authorized not_on_list', email)
  }
})

test('an agent makes no room and changes none, not even as one that is on the list', async () => {
  const { secret } = await world.emailRoom()
  const { identity } = await world.agent({ claims: { email: 'owner@example.com', email_verified: true } })
  const made = async (policy: string) => reasonOf(await world.space.call('create', { ...fresh(), policy, ...identity }))
  assert.equal(await made('email'), '403 not_authorized token: bad_issuer')
  assert.equal(await made('open'), '403 not_authorized token: bad_issuer')
  const lists = { admit: { agents: [other] }, expel: { emails: ['ada@example.com'] }, remove: {} }
  for (const [op, change] of Object.entries(lists)) {
    assert.equal(reasonOf(await world.space.call(op, { ...secret, ...change, ...identity })), '403 not_authorized not_owner', op)
  }
})

test('an agent that made an open room without its token owns it by its device key alone, not with the token', async () => {
  const secret = fresh()
  const { identity, device } = await world.agent()
  const prove = (op: string) => proofOf(device.privateKey, { op, room: secret.room }, '')
  const made = await world.space.call('create', { ...secret, policy: 'open', spk: device.spk, proof: await prove('create') })
  assert.equal(made.status, 200)
  const withToken = await world.space.call('remove', { ...secret, ...identity, proof: await prove('remove') })
  assert.equal(reasonOf(withToken), '403 not_authorized not_owner')
})

test('a person’s token is never an agent’s, whoever it names', async () => {
  const { secret } = await world.emailRoom()
  const posing = [
    ['a subject that is an agent', {}, {}, 'not_on_list'],
    ['without an address', { email: undefined }, {}, 'token: unverified_email'],
    ['of the agents’ type', {}, { typ: AGENT_TOKEN_TYPE }, 'token: bad_signature'],
    [
      'of the agents’ type and issuer',
      { iss: world.platform.provider.issuer, aud: spacesUrl },
      { typ: AGENT_TOKEN_TYPE },
      'token: bad_signature',
    ],
    ['of the platform’s name', { iss: world.platform.provider.issuer }, {}, 'token: bad_issuer'],
  ] as const
  for (const [name, claims, header, reason] of posing) {
    const { identity } = await world.person('eve@example.com', { sub: scribe, ...claims }, header)
    assert.equal(await enter(secret, identity), `403 not_authorized ${reason}`, name)
  }
  // Nor does the platform's key make a person: not of anyone on the list.
  const forged = await world.agent({
    claims: { email: 'owner@example.com', email_verified: true, aud: 'spaces' },
    header: { typ: 'JWT' },
  })
  assert.equal(await enter(secret, forged.identity), '403 not_authorized token: bad_signature')
})

test('where the platform is the identity provider too, persons and agents are still told apart', async () => {
  const { provider } = world.platform
  const both = await startTestSpace({ ...world.forAgents, OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: spacesUrl })
  try {
    const ada = await createTestDevice()
    const token = await provider.sign({ email: 'ada@example.com', sub: scribe, nonce: ada.nonce })
    const [secret, owner] = [fresh(), { idToken: token, spk: ada.spk }]
    const made = await both.call('create', { ...secret, policy: 'email', agents: [other], ...owner })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const posing = await world.agent({ claims: { email: 'ada@example.com', email_verified: true } })
    assert.equal(await enter(secret, posing.identity, both), '403 not_authorized not_on_list')
    await both.call('admit', { ...secret, agents: [scribe], ...owner })
    assert.equal(await enter(secret, posing.identity, both), 'in')
    const kinds = (await both.call('poll', { ...secret, ...owner })).body.entries.map(({ author }: any) => author)
    assert.deepEqual(kinds, [{ kind: 'agent', id: scribe, name: 'Scribe', key: posing.device.nonce }])
    assert.equal(reasonOf(await both.call('remove', { ...secret, ...posing.identity })), '403 not_authorized not_owner')
  } finally {
    await both.close()
  }
})

test('in an open room an agent is an agent when it shows its token, which must then be right, and else anonymous', async () => {
  const secret = fresh()
  const { identity, device } = await world.agent({ claims: { name: 'S'.repeat(300) } })
  const say = (shown: object) => world.space.call('turn', { ...secret, ...shown, message: { text: 'x' } })
  assert.equal(reasonOf(await say(identity)), 'in', 'its first word makes the room')
  assert.equal(reasonOf(await say({ spk: device.spk })), 'in')
  const expired = await world.agent({ claims: { exp: 1 } })
  assert.equal(reasonOf(await say(expired.identity)), '403 not_authorized token: expired')
  assert.equal(reasonOf(await say({ idToken: identity.idToken })), '403 not_authorized unsigned')
  const { body } = await world.space.call('poll', secret)
  assert.deepEqual(
    body.entries.map((entry: any) => entry.author),
    [
      { kind: 'agent', id: scribe, name: 'S'.repeat(200), key: device.nonce },
      { kind: 'anonymous', key: device.nonce },
    ],
  )
})

test('an agent’s repeat of a client_id is stored once, also after it took another device key', async () => {
  const { secret } = await world.emailRoom()
  const say = async () =>
    world.space.call('turn', { ...secret, ...(await world.agent()).identity, message: { text: 'once', client_id: 'c1' } })
  const [first, second] = [await say(), await say()]
  assert.equal(first.status, 200)
  assert.deepEqual([second.body.id, second.body.seq], [first.body.id, first.body.seq])
})

test('an agent’s proof is marked, and counts where a room requires one', async () => {
  const { secret } = await world.emailRoom({ agents: [scribe] })
  const { identity, device } = await world.agent()
  const message = { text: 'signed' }
  const proof = await proofOf(
    device.privateKey,
    { op: 'turn', room: secret.room },
    proofContent({ op: 'turn', room: secret.room, message }),
  )
  const said = await world.space.call('turn', { ...secret, ...identity, message, proof })
  assert.equal(said.status, 200, JSON.stringify(said.body))
  const { body } = await world.space.call('poll', { ...secret, ...identity })
  assert.equal(body.entries[0].author.proven, true)
})

test('a first word that is refused makes no room', async () => {
  const secret = fresh()
  const expired = await world.agent({ claims: { exp: 1 } })
  const message = { text: 'x' }
  assert.equal(
    reasonOf(await world.space.call('turn', { ...secret, ...expired.identity, message })),
    '403 not_authorized token: expired',
  )
  const proof = 'none'
  assert.equal(reasonOf(await world.space.call('turn', { ...secret, proof, message })), '403 not_authorized unproven')
  assert.equal((await world.space.call('poll', secret)).status, 404)
})

test('a poll that is held is answered before the token ends, and not refused for it', async () => {
  const { secret } = await world.emailRoom()
  // It has about eight seconds left, which is enough for the first poll on a slow machine.
  const { identity } = await world.agent({ claims: { iat: now() - 37 } })
  const { etag, count } = (await world.space.call('poll', { ...secret, ...identity })).body
  const startedAt = Date.now()
  const held = await world.space.call('poll', { ...secret, ...identity, sinceEtag: etag, sinceCount: count, waitMs: 25_000 })
  assert.deepEqual([reasonOf(held), held.body.entries], ['in', []])
  assert.ok(Date.now() - startedAt < 20_000)
})

test('45 seconds after it was made an agent’s token opens nothing, whatever it says', async () => {
  const { secret } = await world.emailRoom()
  const { identity } = await world.agent({ claims: { iat: now() - 46, exp: now() + 7_200 } })
  assert.equal(await enter(secret, identity), '403 not_authorized token: expired')
})
