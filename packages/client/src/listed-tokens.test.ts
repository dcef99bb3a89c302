import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { serveTestProvider, type ServedProvider } from '../../identity/src/testing/serve-provider.ts'
import { ListedConnection } from '../../room-client/src/listed-connection.ts'
import { startTestSpace, type TestSpace } from '../../space/src/testing/test-space.ts'
import {
  answerInvitation,
  generateDevicePairs,
  ListFullError,
  type ListedRoomOptions,
  openListedRoom,
  type RoomDevice,
  roomDeviceOf,
  TokenRefusedError,
} from './listed-room.ts'
import { newRoomSecret } from './new-room-secret.ts'

const audience = 'https://rooms.example'
let space: TestSpace
let idp: ServedProvider
before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
  idp = await serveTestProvider({ audience: 'spaces' })
})
after(async () => {
  idp?.close()
  await space?.close()
})

const identityProvider = () => ({ issuer: idp.provider.issuer, clientId: 'spaces' })
const more = () => ({ spaceUrl: `${space.origin}/space`, audience })
const newDevice = async () => roomDeviceOf(await generateDevicePairs())
const tokenFor = (device: RoomDevice, email: string, claims = {}) =>
  idp.provider.sign({ email, sub: email, nonce: device.signing.thumbprint, ...claims })

async function newRoom(options: Partial<ListedRoomOptions> = {}) {
  const device = await newDevice()
  const common = { ...more(), identityProvider: identityProvider(), ...options }
  const room = openListedRoom({ ...common, room: newRoomSecret().room, device })
  await room.make()
  return { room, device, owner: device.signing.thumbprint }
}

test('readers see of each line whose address wrote it, and how they know', async () => {
  const { room, device, owner } = await newRoom()
  const itself = await room.identify(await tokenFor(device, 'ada@example.org'))
  assert.equal(itself.standing.ok && itself.standing.email, 'ada@example.org')
  const grace = await newDevice()
  const idToken = await tokenFor(grace, 'Grace@Example.org')
  const invitation = await room.invite('grace@example.org')
  const hers = await answerInvitation(invitation, { ...more(), device: grace, idToken, identityProvider: identityProvider() })
  const [admitted] = await room.admit()
  assert.equal(admitted?.key, grace.signing.thumbprint)
  await hers.say('Good evening.')
  await room.say('Welcome.')
  for (const reader of [room, hers]) {
    const read = await reader.read()
    assert.deepEqual(
      read.map(({ member: { key, invitedAs, standing }, message: { text } }) => [
        text,
        key,
        invitedAs,
        standing.ok && [standing.email, standing.issuer, standing.keyFrom],
      ]),
      [
        ['Good evening.', grace.signing.thumbprint, 'grace@example.org', ['grace@example.org', idp.provider.issuer, 'issuer']],
        ['Welcome.', owner, undefined, ['ada@example.org', idp.provider.issuer, 'issuer']],
      ],
    )
  }
})

test('an invited address is admitted only with its own ID token; each answer is told why not', async () => {
  const { room } = await newRoom()
  const reasons: unknown[] = []
  const wrong: Record<string, (device: RoomDevice) => Promise<string> | undefined> = {
    unsigned: () => undefined,
    'token: malformed': async () => 'x.y.z',
    'token: bad_aud': (device) => tokenFor(device, 'grace@example.org', { aud: 'other' }),
    'token: expired': (device) => tokenFor(device, 'grace@example.org', { iat: 1, exp: 2 }),
    'token: unverified_email': (device) => tokenFor(device, 'grace@example.org', { email_verified: false }),
    nonce_mismatch: async () => tokenFor(await newDevice(), 'grace@example.org'),
    not_on_list: (device) => tokenFor(device, 'eve@example.org'),
  }
  for (const make of Object.values(wrong)) {
    const device = await newDevice()
    const idToken = await make(device)
    const invitation = await room.invite('grace@example.org')
    await answerInvitation(invitation, { ...more(), device, ...(idToken !== undefined && { idToken }) })
    assert.deepEqual(await room.admit(), [])
    const [open] = await room.invitations()
    const standing = open?.answeredBy?.standing
    reasons.push(standing?.ok === false && standing.reason)
    await room.expel([open?.key ?? ''])
  }
  assert.deepEqual(reasons, Object.keys(wrong))
  assert.deepEqual(await room.invitations(), [])
  const device = await newDevice()
  await answerInvitation(await room.invite('Grace, by telephone'), { ...more(), device })
  assert.equal((await room.admit()).length, 1, 'a name is the word of the owner')
})

test('a device whose clock is slow, and not too slow for the service, is let in by its ID token', async () => {
  const { room } = await newRoom()
  for (const slowMs of [120_000, 290_000]) {
    const device = await newDevice()
    const idToken = await tokenFor(device, 'grace@example.org')
    const nowMs = () => Date.now() - slowMs
    await answerInvitation(await room.invite('grace@example.org'), { ...more(), device, idToken, nowMs })
    const [admitted] = await room.admit()
    assert.equal(admitted?.standing.ok && admitted.standing.email, 'grace@example.org')
  }
  const late = await newRoom({ nowMs: () => Date.now() - 120_000 })
  await late.room.identify(await tokenFor(late.device, 'ada@example.org'))
  const reader = openListedRoom({ ...more(), room: late.room.room, device: late.device, identityProvider: identityProvider() })
  const [owner] = await reader.members()
  assert.equal(owner?.standing.ok && owner.standing.email, 'ada@example.org')
})

test('an owner and a member whose clocks are slow, and not too slow for the service, accept a new ID token', async () => {
  const nowMs = () => Date.now() - 290_000
  const { room, owner } = await newRoom({ nowMs })
  const device = await newDevice()
  const idToken = await tokenFor(device, 'grace@example.org')
  const common = { ...more(), device, identityProvider: identityProvider() }
  await answerInvitation(await room.invite('grace@example.org'), { ...common, idToken })
  const [admitted] = await room.admit()
  assert.equal(admitted?.standing.ok && admitted.standing.email, 'grace@example.org')
  const slow = openListedRoom({ ...common, room: room.room, owner, nowMs })
  const [, grace] = await slow.members()
  assert.equal(grace?.standing.ok && grace.standing.email, 'grace@example.org')
})

test('a device that was removed comes back by an invitation for its own address only, and with a new token', async () => {
  const { room } = await newRoom()
  const device = await newDevice()
  const email = 'grace@example.org'
  const answer = async (who: string, idToken?: string) =>
    answerInvitation(await room.invite(who), { ...more(), device, ...(idToken !== undefined && { idToken }) })
  await answer(email, await tokenFor(device, email))
  await room.admit()
  await room.expel([device.signing.thumbprint])
  await answer('eve@example.org', await tokenFor(device, email))
  assert.deepEqual(await room.admit(), [], 'the token is for another address')
  await answer(email)
  assert.deepEqual(await room.admit(), [], 'the old token counts no more')
  await answer(email, await tokenFor(device, email))
  const [admitted] = await room.admit()
  assert.equal(admitted?.standing.ok && admitted.standing.email, email)
})

test('a device cannot seal a token that readers reject, and its first one counts', async () => {
  const { room, device } = await newRoom()
  const ofAnother = tokenFor(await newDevice(), 'ada@example.org')
  await assert.rejects(room.identify(await ofAnother), (error) => {
    return error instanceof TokenRefusedError && error.reason === 'nonce_mismatch'
  })
  await room.identify(await tokenFor(device, 'ada@example.org'))
  await room.identify(await tokenFor(device, 'other@example.org'))
  const [member] = await room.members()
  assert.equal(member?.standing.ok && member.standing.email, 'ada@example.org')
})

test('when the provider has other keys, or does not answer, the keys that the owner has sealed verify a token', async () => {
  const gone = await serveTestProvider({ audience: 'spaces' })
  const identityProvider = { issuer: gone.provider.issuer, clientId: 'spaces' }
  const { room, device, owner } = await newRoom({ identityProvider })
  const idToken = await gone.provider.sign({ email: 'ada@example.org', nonce: owner })
  await room.identify(idToken)
  const member = await newDevice()
  await answerInvitation(await room.invite('Grace'), { ...more(), device: member, identityProvider })
  await room.admit()
  await room.say('Before.')
  gone.close()
  const late = openListedRoom({ ...more(), room: room.room, owner, device: member, identityProvider })
  const [entry] = await late.read()
  assert.deepEqual(entry?.member.standing.ok && entry.member.standing.keyFrom, 'owner')
  // Its key was never in a list.
  const unknown = await newRoom({ identityProvider })
  await unknown.room.identify(idToken).catch(() => undefined)
  const { standing } = await unknown.room.identify(await gone.provider.sign({ nonce: unknown.owner }))
  assert.deepEqual(standing, { ok: false, reason: 'unchecked' })
  assert.ok(device)
})

test('a device can be removed from a full list, also when the provider has another key by now, or the owner another name', async () => {
  const device = await newDevice()
  const owner = device.signing.thumbprint
  const room = openListedRoom({ ...more(), room: newRoomSecret().room, device })
  await room.make()
  const grace = await newDevice()
  const idToken = await tokenFor(grace, 'grace@example.org')
  await answerInvitation(await room.invite('grace@example.org'), { ...more(), device: grace, idToken })
  await room.admit()
  const full = new ListedConnection({ ...more(), room: room.room, device })
  await room.invite('Linus')
  for (let step = 32_768, length = 0; step > 0; step = Math.floor(step / 2)) {
    const text = 'x'.repeat(length + step)
    const isWritten = full.change((list) => ({ ...list, invites: list.invites.map((one) => ({ ...one, for: text })) }), undefined)
    const error: unknown = await isWritten.catch((failure: unknown) => failure)
    assert.ok(error === undefined || error instanceof ListFullError, String(error))
    if (!error) length += step
  }
  const later = openListedRoom({
    ...more(),
    room: room.room,
    device,
    identityProvider: identityProvider(),
    name: '😀'.repeat(80),
  })
  const member = (await later.members()).find(({ key }) => key !== owner)
  assert.equal(member?.standing.ok && member.standing.keyFrom, 'issuer')
  await later.expel([grace.signing.thumbprint])
  assert.deepEqual(
    (await later.members()).map(({ key }) => key),
    [owner],
  )
})

test('without a provider nothing is checked, and a removed device keeps the address that its lines had', async () => {
  const { room } = await newRoom()
  const device = await newDevice()
  const idToken = await tokenFor(device, 'grace@example.org')
  const hers = await answerInvitation(await room.invite('grace@example.org'), { ...more(), device, idToken })
  await room.admit()
  await hers.say('I go.')
  const [seen] = await hers.read()
  assert.deepEqual(seen?.member.standing, { ok: false, reason: 'unchecked' })
  await room.expel([device.signing.thumbprint])
  const [entry] = await room.read()
  assert.deepEqual(entry?.member.standing, { ok: false, reason: 'revoked', email: 'grace@example.org' })
})

test('follow yields messages as they come, also while the key changes, and ends with the removal of its device', async (t) => {
  const { room } = await newRoom()
  const device = await newDevice()
  await room.say('first')
  const hers = await answerInvitation(await room.invite('Grace'), { ...more(), device })
  await room.admit()
  const heard: string[] = []
  const stop = new AbortController()
  t.after(() => stop.abort())
  const fromNow: string[] = []
  const following = (async () => {
    for await (const { message } of hers.follow({ signal: stop.signal })) heard.push(message.text)
  })()
  const ended = assert.rejects(following, { name: 'NotListedError' })
  const now = (async () => {
    for await (const { message } of room.follow({ after: 'now', signal: stop.signal })) fromNow.push(message.text)
  })()
  const until = async (done: () => boolean) => {
    for (const end = Date.now() + 10_000; !done();) {
      assert.ok(Date.now() < end, JSON.stringify([heard, fromNow]))
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await until(() => heard.length === 1)
  await space.untilHeld(2)
  await room.say('second')
  await until(() => heard.length === 2 && fromNow.length === 1)
  // The key changes in the middle of a held read.
  await room.invite('somebody')
  const [open] = await room.invitations()
  await room.expel([open?.key ?? ''])
  await room.say('third')
  await until(() => heard.length === 3 && fromNow.length === 2)
  await room.expel([device.signing.thumbprint])
  await room.say('fourth')
  await ended
  await until(() => fromNow.length === 3)
  stop.abort()
  await now
  assert.deepEqual(heard, ['first', 'second', 'third'])
  assert.deepEqual(fromNow, ['second', 'third', 'fourth'])
})
