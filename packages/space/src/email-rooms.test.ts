import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { serveTestProvider, type ServedProvider } from '@atrium/identity/testing/serve-provider'
import { CompactSign } from 'jose'
import { proofContent } from '@atrium/sealing/proof'
import { proofOf } from './testing/agent-world.ts'
import { mirrored } from './testing/mirrored.ts'
import { startTestSpace, type TestSpace } from './testing/test-space.ts'

let idp: ServedProvider
let space: TestSpace
before(async () => {
  idp = await serveTestProvider({ audience: 'spaces' })
  space = await startTestSpace({ OIDC_ISSUER: idp.provider.issuer, OIDC_CLIENT_ID: 'spaces' })
})
after(async () => {
  await space.close()
  idp.close()
})

const fresh = () => ({ room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') })

/** A person at a device: what they send to be let in. */
async function person(email: string, claims: object = {}) {
  const device = await createTestDevice()
  const idToken = await idp.provider.sign({ email, sub: email, name: email.split('@')[0], nonce: device.nonce, ...claims })
  return { identity: { idToken, spk: device.spk }, device }
}

async function emailRoom(allow: string[], more: object = {}) {
  const owner = await person('owner@example.com')
  const secret = fresh()
  const made = await space.call('create', { ...secret, policy: 'email', allow, ...more, ...owner.identity })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  return { secret, owner }
}
const reasonOf = ({ status, body }: { status: number; body: any }) =>
  status === 200 ? 'in' : `${status} ${body.error} ${body.reason}`
const poll = (secret: object, identity: object) => space.call('poll', { ...secret, ...identity })

test('an account on the list reads and writes, and is named as the author', async () => {
  const { secret, owner } = await emailRoom(['Ada@Example.com'])
  const ada = await person('ada@example.com')
  const said = await space.call('turn', { ...secret, ...ada.identity, message: { text: 'here' } })
  assert.equal(said.status, 200)
  const { body } = await poll(secret, owner.identity)
  assert.deepEqual(body.entries[0].author, { kind: 'account', email: 'ada@example.com', name: 'ada', key: ada.device.nonce })
  assert.equal(body.policy, 'email')
})

test('every reason in the contract’s order, and nothing else in the answer', async () => {
  const { secret } = await emailRoom(['ada@example.com', 'bob@example.com'])
  const ada = await person('ada@example.com')
  const eve = await person('eve@example.com')
  const expired = await person('ada@example.com', { exp: Math.floor(Date.now() / 1_000) - 120 })
  const forAnother = await person('ada@example.com', { aud: 'another-app' })
  const unverified = await person('ada@example.com', { email_verified: false })
  const tampered = {
    ...ada.identity,
    idToken: ada.identity.idToken.slice(0, -4) + (ada.identity.idToken.endsWith('AAAA') ? 'BBBB' : 'AAAA'),
  }
  const attempts: [object, string][] = [
    [{}, 'unsigned'],
    [{ idToken: ada.identity.idToken }, 'unsigned'],
    [{ spk: ada.identity.spk }, 'unsigned'],
    [expired.identity, 'token: expired'],
    [forAnother.identity, 'token: bad_aud'],
    [unverified.identity, 'token: unverified_email'],
    [tampered, 'token: bad_signature'],
    [{ ...ada.identity, spk: eve.identity.spk }, 'nonce_mismatch'],
    [eve.identity, 'not_on_list'],
  ]
  for (const [identity, reason] of attempts) {
    for (const op of ['poll', 'turn']) {
      const { status, body } = await space.call(op, {
        ...secret,
        ...identity,
        ...(op === 'turn' ? { message: { text: 'x' } } : {}),
      })
      assert.deepEqual([status, body], [403, { error: 'not_authorized', reason }], op)
    }
  }
  // Wrong twice: the first of the contract's order is said.
  const both = await poll(secret, { ...expired.identity, spk: eve.identity.spk })
  assert.equal(both.body.reason, 'token: expired')
  const { rows } = await space.db.query('select count from rooms where room = $1', [secret.room])
  assert.equal(rows[0].count, 1, 'a rejected write stores nothing')
})

test('a malformed token or key is judged in the same order, and is no fault of the request’s form', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  const ada = await person('ada@example.com')
  const eve = await person('eve@example.com')
  const expired = await person('ada@example.com', { exp: Math.floor(Date.now() / 1_000) - 120 })
  const { x, y } = ada.identity.spk as { x: string; y: string }
  const malformed = [5, true, {}, [], 'x', 'a.b.c', 'x'.repeat(20_000)]
  const keys = [
    5,
    false,
    [],
    {},
    'x',
    { kty: 'EC', crv: 'P-256', x },
    { kty: 'EC', crv: 'P-384', x, y },
    { kty: 'EC', crv: 'P-256', x, y: x },
  ]
  const attempts: [object, string][] = [
    ...malformed.map((idToken): [object, string] => [{ ...ada.identity, idToken }, 'token: malformed']),
    ...keys.map((spk): [object, string] => [{ ...ada.identity, spk }, 'nonce_mismatch']),
    ...[null, ''].flatMap((none): [object, string][] => [
      [{ ...ada.identity, idToken: none }, 'unsigned'],
      [{ ...ada.identity, spk: none }, 'unsigned'],
    ]),
    [{ idToken: 5, spk: 5 }, 'token: malformed'],
    [{ idToken: 5 }, 'unsigned'],
    [{ ...expired.identity, spk: {} }, 'token: expired'],
    [{ ...eve.identity, spk: {} }, 'nonce_mismatch'],
  ]
  const fields = { turn: { message: { text: 'x' } }, admit: { emails: ['x@example.com'] }, expel: { emails: ['x@example.com'] } }
  for (const [identity, reason] of attempts) {
    for (const op of ['poll', 'turn', 'admit', 'expel', 'remove']) {
      const { status, body } = await space.call(op, { ...secret, ...fields[op as keyof typeof fields], ...identity })
      assert.deepEqual(
        [status, body],
        [403, { error: 'not_authorized', reason }],
        `${op} ${JSON.stringify(identity).slice(0, 200)}`,
      )
    }
    const made = await space.call('create', { ...fresh(), policy: 'email', ...identity })
    if (reason !== 'not_on_list') assert.deepEqual([made.status, made.body.reason], [403, reason])
  }
  assert.equal(reasonOf(await poll(secret, owner.identity)), 'in')
  const open = fresh()
  const turn = await space.call('turn', { ...open, message: { text: 'x' }, spk: {} })
  assert.deepEqual([turn.status, turn.body.error], [400, 'invalid_request'], 'in an open room a key that is shown must be right')
})

test('empty lists are none: a room for its owner alone, and a change of agents without addresses', async () => {
  const { secret, owner } = await emailRoom([], { agents: [] })
  const ada = await person('ada@example.com')
  assert.equal(reasonOf(await poll(secret, ada.identity)), '403 not_authorized not_on_list')
  const agents = ['agt_4fRzK0vXcB1mQwErTy7uPa']
  assert.equal((await space.call('admit', { ...secret, emails: [], agents, ...owner.identity })).status, 200)
  assert.equal(
    (await space.call('admit', { ...secret, emails: [], agents: [], ...owner.identity })).body.error,
    'invalid_request',
  )
  assert.equal((await space.call('create', { ...fresh(), policy: 'open', allow: [], agents: [] })).status, 200)
})

test('the largest list that create accepts changes, and does not grow', async () => {
  const allow = Array.from({ length: 1_000 }, (_, i) => `member${i}@example.com`)
  const agents = Array.from({ length: 100 }, (_, i) => `agt_${String(i).padStart(22, '0')}`)
  const { secret, owner } = await emailRoom(allow, { agents })
  const change = (op: string, fields: object) => space.call(op, { ...secret, ...fields, ...owner.identity })
  assert.equal((await change('expel', { emails: ['member0@example.com'], agents: agents.slice(0, 1) })).status, 200)
  const member = await person('member0@example.com')
  assert.equal(reasonOf(await poll(secret, member.identity)), '403 not_authorized revoked')
  assert.equal((await change('admit', { emails: ['member0@example.com'] })).status, 200)
  assert.equal(reasonOf(await poll(secret, member.identity)), 'in')
  const more = await change('admit', { emails: ['another@example.com'] })
  assert.equal(reasonOf(more), '400 invalid_request a list goes up to 1100')
})

test('a stranger with the key of the room gets nothing, and neither does one with the wrong key', async () => {
  const { secret } = await emailRoom(['ada@example.com'])
  assert.equal(reasonOf(await poll(secret, {})), '403 not_authorized unsigned')
  const ada = await person('ada@example.com')
  assert.equal(reasonOf(await poll({ ...secret, mk: fresh().mk }, ada.identity)), '403 not_authorized bad_room_key')
})

test('an expelled account gets the reason, and has access again once admitted; the room contains the log', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  const ada = await person('ada@example.com')
  const bob = await person('bob@example.com')
  assert.equal(reasonOf(await poll(secret, bob.identity)), '403 not_authorized not_on_list')
  assert.equal((await space.call('admit', { ...secret, emails: ['bob@example.com'], ...owner.identity })).status, 200)
  assert.equal(reasonOf(await poll(secret, bob.identity)), 'in')
  assert.equal((await space.call('expel', { ...secret, emails: ['ada@example.com'], ...owner.identity })).status, 200)
  assert.equal(reasonOf(await poll(secret, ada.identity)), '403 not_authorized revoked')
  await space.call('admit', { ...secret, emails: ['ada@example.com'], ...owner.identity })
  assert.equal(reasonOf(await poll(secret, ada.identity)), 'in')
  const { rows } = await space.db.query('select count, policy_seq from rooms where room = $1', [secret.room])
  assert.deepEqual(rows[0], { count: 4, policy_seq: 3 })
})

test('only the owner changes the list or removes the room', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  const ada = await person('ada@example.com')
  for (const op of ['admit', 'expel', 'remove']) {
    const emails = op === 'remove' ? {} : { emails: ['eve@example.com'] }
    assert.equal(reasonOf(await space.call(op, { ...secret, ...emails, ...ada.identity })), '403 not_authorized not_owner', op)
    assert.equal(reasonOf(await space.call(op, { ...secret, ...emails })), '403 not_authorized unsigned', op)
  }
  assert.equal((await space.call('remove', { ...secret, ...owner.identity })).status, 200)
  assert.equal((await poll(secret, owner.identity)).status, 404)
  const { rows } = await space.db.query('select count(*)::int as n from room_lines where room = $1', [secret.room])
  assert.equal(rows[0].n, 0)
})

test('a removed room stays removed: a late write makes no open room in its place', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  await space.call('remove', { ...secret, ...owner.identity })
  const late = await space.call('turn', { ...secret, message: { text: 'still there?' } })
  assert.deepEqual([late.status, late.body], [404, { error: 'not_found', reason: 'room' }])
  assert.equal((await space.call('create', { ...secret, policy: 'open' })).status, 409)
})

test('a held poll of a room that is removed meanwhile is answered at once', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  const { etag, count } = (await poll(secret, owner.identity)).body
  const held = poll(secret, { ...owner.identity, sinceEtag: etag, sinceCount: count, waitMs: 20_000 })
  await space.untilHeld(1)
  const removedAt = Date.now()
  await space.call('remove', { ...secret, ...owner.identity })
  assert.equal((await held).status, 404)
  assert.ok(Date.now() - removedAt < 10_000)
})

test('a room that was removed and one that never was are not told apart, neither by the answer nor by when it comes', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  await space.call('remove', { ...secret, ...owner.identity })
  for (const either of [secret, fresh()]) {
    for (const since of [{}, { sinceCount: 3 }, { sinceEtag: 'x'.repeat(43), sinceCount: 3 }]) {
      const startedAt = Date.now()
      const { status, body } = await poll(either, { ...since, waitMs: 20_000 })
      assert.deepEqual([status, body], [404, { error: 'not_found', reason: 'room' }])
      assert.ok(Date.now() - startedAt < 10_000, 'it was held')
    }
  }
})

test('an open room belongs to the device that proved its key at the making, and to no other', async () => {
  const secret = fresh()
  const ada = await person('ada@example.com')
  const eve = await person('eve@example.com')
  const sha256 = createHash('sha256').update('').digest('hex')
  const prove = (op: string, key: typeof ada.device.privateKey) =>
    new CompactSign(
      new TextEncoder().encode(JSON.stringify({ op, room: secret.room, iat: Math.floor(Date.now() / 1_000), sha256 })),
    )
      .setProtectedHeader({ alg: 'ES256' })
      .sign(key)
  const made = await space.call('create', {
    ...secret,
    policy: 'open',
    spk: ada.device.spk,
    proof: await prove('create', ada.device.privateKey),
  })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  const remove = async (spk: object, proof?: string) => space.call('remove', { ...secret, spk, ...(proof ? { proof } : {}) })
  assert.equal(
    reasonOf(await remove(eve.device.spk, await prove('remove', eve.device.privateKey))),
    '403 not_authorized not_owner',
  )
  assert.equal(reasonOf(await remove(ada.device.spk)), '403 not_authorized not_owner')
  assert.equal((await remove(ada.device.spk, await prove('remove', ada.device.privateKey))).status, 200)
})

test('an expelled member’s held poll brings them nothing more', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  const ada = await person('ada@example.com')
  const { etag, count } = (await poll(secret, ada.identity)).body
  const held = space.call('poll', { ...secret, ...ada.identity, sinceEtag: etag, sinceCount: count, waitMs: 10_000 })
  await space.untilHeld(1)
  await space.call('expel', { ...secret, emails: ['ada@example.com'], ...owner.identity })
  assert.equal(reasonOf(await held), '403 not_authorized revoked')
})

test('an expulsion in another process holds for the next write here at once', async () => {
  const second = await startTestSpace({ OIDC_ISSUER: idp.provider.issuer, OIDC_CLIENT_ID: 'spaces' }, space.databaseUrl)
  try {
    const { secret, owner } = await emailRoom(['ada@example.com'])
    const ada = await person('ada@example.com')
    const write = () => space.call('turn', { ...secret, ...ada.identity, message: { text: 'x' } })
    assert.equal((await write()).status, 200)
    await second.call('expel', { ...secret, emails: ['ada@example.com'], ...owner.identity })
    assert.equal(reasonOf(await write()), '403 not_authorized revoked')
  } finally {
    await second.close()
  }
})

test('a proof of possession must verify when it is there, and is marked; a room may require it', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'], {})
  const ada = await person('ada@example.com')
  const message = { text: 'signed', client_id: 'c1' }
  const prove = (claims: object, key = ada.device.privateKey) =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(claims))).setProtectedHeader({ alg: 'ES256' }).sign(key)
  const good = {
    op: 'turn',
    room: secret.room,
    iat: Math.floor(Date.now() / 1_000),
    sha256: createHash('sha256')
      .update(proofContent({ op: 'turn', room: secret.room, message }))
      .digest('hex'),
  }
  const send = async (proof: string) => space.call('turn', { ...secret, ...ada.identity, message, proof })
  assert.equal(reasonOf(await send(await prove({ ...good, room: 'another' }))), '403 not_authorized unproven')
  assert.equal(reasonOf(await send(await prove(good, owner.device.privateKey))), '403 not_authorized unproven')
  assert.equal(reasonOf(await send(await prove(good))), 'in')
  assert.equal((await poll(secret, ada.identity)).body.entries[0].author.proven, true)

  const strict = fresh()
  await space.call('turn', { ...strict, message: { text: 'x' } })
  const proven = fresh()
  const empty = createHash('sha256').update('').digest('hex')
  const proof = await prove({ op: 'create', room: proven.room, iat: good.iat, sha256: empty })
  const made = await space.call('create', { ...proven, policy: 'open', require_proof: true, ...ada.identity, proof })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  assert.equal(reasonOf(await space.call('turn', { ...proven, message: { text: 'x' } })), '403 not_authorized unproven')
  assert.equal(reasonOf(await poll(proven, {})), '403 not_authorized unproven')
})

test('a proof that was captured admits nobody else, and nobody again', async () => {
  const { secret, owner } = await emailRoom(['ada@example.com'])
  const change = async (op: string, args: object, proof?: string) =>
    space.call(op, { ...secret, ...owner.identity, ...args, ...(proof === undefined ? {} : { proof }) })
  const prove = (op: string, args: object) =>
    proofOf(owner.device.privateKey, { op, room: secret.room }, proofContent({ op, room: secret.room, ...args }))
  const bob = await person('bob@example.com')
  const emails = { emails: ['bob@example.com'] }

  const empty = await proofOf(owner.device.privateKey, { op: 'admit', room: secret.room }, '')
  assert.equal(reasonOf(await change('admit', emails, empty)), '403 not_authorized unproven')
  const admission = await prove('admit', emails)
  assert.equal(reasonOf(await change('admit', { emails: ['eve@example.com'] }, admission)), '403 not_authorized unproven')
  const withMore = { ...emails, agents: ['agt_0123456789abcdefghijAB'] }
  assert.equal(reasonOf(await change('admit', withMore, admission)), '403 not_authorized unproven')
  assert.equal(reasonOf(await change('expel', emails, admission)), '403 not_authorized unproven')
  assert.equal(reasonOf(await change('admit', emails, admission)), 'in')
  assert.equal(reasonOf(await poll(secret, bob.identity)), 'in')

  assert.equal(reasonOf(await change('expel', emails, await prove('expel', emails))), 'in')
  const before = (await poll(secret, owner.identity)).body.count
  assert.equal(reasonOf(await change('admit', emails, admission)), 'in')
  assert.equal((await poll(secret, owner.identity)).body.count, before, 'the repeat wrote nothing')
  assert.equal(reasonOf(await poll(secret, bob.identity)), '403 not_authorized revoked')
  assert.equal(reasonOf(await change('admit', emails, mirrored(admission))), 'in')
  assert.equal(reasonOf(await poll(secret, bob.identity)), '403 not_authorized revoked')
  assert.equal(reasonOf(await change('admit', emails, await prove('admit', emails))), 'in')
  assert.equal(reasonOf(await poll(secret, bob.identity)), 'in')
})

test('a turn whose proof is sent again is stored once, also without a client_id', async () => {
  const { secret } = await emailRoom(['ada@example.com'])
  const ada = await person('ada@example.com')
  const message = { text: 'once' }
  const prove = () =>
    proofOf(ada.device.privateKey, { op: 'turn', room: secret.room }, proofContent({ op: 'turn', room: secret.room, message }))
  const say = (proof: string) => space.call('turn', { ...secret, ...ada.identity, message, proof })
  const proof = await prove()
  const first = await say(proof)
  assert.equal(first.status, 200)
  assert.equal((await say(proof)).body.id, first.body.id)
  assert.equal((await say(mirrored(proof))).body.id, first.body.id)
  const second = await say(await prove())
  assert.notEqual(second.body.id, first.body.id, 'the same words, said twice')
  assert.equal((await poll(secret, ada.identity)).body.entries.length, 2)
})

test('no account reaches a table or the log', async () => {
  const { secret } = await emailRoom(['canary@example.com'])
  const canary = await person('canary@example.com')
  await space.call('turn', { ...secret, ...canary.identity, message: { text: 'x' } })
  const rows = (await space.db.query('select room_lines::text as row from room_lines union all select rooms::text from rooms'))
    .rows
  const everything = [...rows.map(({ row }) => row), ...space.logged].join('\n')
  for (const secretText of ['canary', 'owner@example.com', canary.identity.idToken, canary.device.nonce]) {
    assert.equal(everything.includes(secretText), false, secretText)
  }
})

test('an admission in another process holds for the next write here', async () => {
  const second = await startTestSpace({ OIDC_ISSUER: idp.provider.issuer, OIDC_CLIENT_ID: 'spaces' }, space.databaseUrl)
  try {
    const { secret, owner } = await emailRoom(['bob@example.com'])
    const [ada, bob] = [await person('ada@example.com'), await person('bob@example.com')]
    const write = (who: typeof ada) => space.call('turn', { ...secret, ...who.identity, message: { text: 'x' } })
    assert.equal(reasonOf(await write(bob)), 'in')
    assert.equal(reasonOf(await write(ada)), '403 not_authorized not_on_list')
    await second.call('admit', { ...secret, emails: ['ada@example.com'], ...owner.identity })
    assert.equal(reasonOf(await write(ada)), 'in')
  } finally {
    await second.close()
  }
})
