import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TamperedRoomError } from './line-reader.ts'
import { ListedReader } from './listed-reader.ts'
import { signCard } from './room-device.ts'
import { contestedDevices, first as guest, inviteAs } from './testing/contested-devices.ts'
import { returningDevices } from './testing/returning-devices.ts'
import { hostedAgent, openAfterHosted, openHosted, tamperedHostedRooms } from './testing/tampered-hosted-rooms.ts'
import { member, openRekeyed, owner, room, runner, stranger, tamperedListedRooms } from './testing/tampered-listed-rooms.ts'
import { openWithSecondDevice, tamperedSecondDevices } from './testing/tampered-second-devices.ts'
import { pageOf } from './testing/tampered-rooms.ts'
import { openWithLongName, openWithUnknownRevoked, tamperedSpellings } from './testing/tampered-spellings.ts'

const contested = { ...contestedDevices, ...returningDevices }

const newReader = (device = member) => new ListedReader({ room, owner: owner.signing.thumbprint, device })

async function problemOf(pages: object[]): Promise<string | undefined> {
  const reader = newReader()
  try {
    for (const page of pages) await reader.take(page as never)
    return undefined
  } catch (error) {
    assert.ok(error instanceof TamperedRoomError, String(error))
    await assert.rejects(reader.take(pages[0] as never), error, 'it reads no further')
    return error.problem
  }
}

const tampered = { ...tamperedListedRooms, ...tamperedHostedRooms, ...tamperedSecondDevices, ...tamperedSpellings }

for (const [name, [problem, pages]] of Object.entries(tampered))
  test(`${name}: ${problem}`, async () => assert.equal(await problemOf(await pages()), problem))

test('there are 76 of them', () => assert.ok(Object.keys(tampered).length >= 76))

test('owner and member read an honest room, in one page or in many; one who came later reads back', async () => {
  const { lines } = await openRekeyed()
  for (const device of [owner, member]) {
    for (const size of [1, 2, 3, 20]) {
      const reader = newReader(device)
      const read: unknown[] = []
      for (let at = 0; at < lines.length; at += size) {
        const entries = await reader.take(await pageOf(lines.slice(at, at + size), {}, at))
        read.push(...entries.map(({ author, message }) => [author.key, message.text]))
      }
      const [one, two] = [owner.signing.thumbprint, member.signing.thumbprint]
      assert.deepEqual(read, [
        [one, 'message m1'],
        [two, 'message m2'],
        [one, 'message m3'],
        [two, 'message m4'],
      ])
      assert.equal(reader.force?.policy.generation, 2)
      assert.equal(reader.card(two)?.invitedAs, 'grace@example.org')
    }
  }
})

test('every reader is told which agent’s operator reads along, and who wrote for it, also after it has left', async () => {
  for (const device of [owner, member, runner]) {
    const reader = newReader(device)
    const { lines } = await openHosted()
    const entries = await reader.take(await pageOf(lines))
    const key = runner.signing.thumbprint
    assert.deepEqual(
      reader.force?.policy.hosted?.map((one) => [one.agent, one.device]),
      [[hostedAgent, key]],
    )
    assert.deepEqual(
      [entries.at(-1)?.author.key, entries.at(-1)?.author.name, reader.card(key)?.hostedAgent],
      [key, 'Lamplighter', hostedAgent],
    )
  }
  const { lines } = await openAfterHosted()
  const left = newReader()
  await left.take(await pageOf(lines))
  assert.equal(left.force?.policy.hosted, undefined)
  assert.equal(left.card(runner.signing.thumbprint)?.hostedAgent, hostedAgent)
  const agent = newReader(runner)
  assert.equal((await agent.take(await pageOf(lines))).length, 3, 'it opens what was said before it left')
  assert.equal(agent.force, undefined)
})

test('a reader that goes on from what was kept knows the devices of agents that have left', async () => {
  const store = await openAfterHosted()
  const first = newReader()
  const entries = await first.take(await pageOf(store.lines))
  const { hashes, state } = first
  const options = { room, owner: owner.signing.thumbprint, device: member }
  const kept = JSON.parse(JSON.stringify(state)) as NonNullable<typeof state>
  const count = store.lines.length
  const key = runner.signing.thumbprint
  await store.change({ devices: [...store.list.devices, key], revoked: [] })
  const resumed = await ListedReader.resume(options, { hashes, ids: entries.map(({ id }) => id), state: kept })
  await assert.rejects(resumed.take(await pageOf(store.lines.slice(count), {}, count)), { problem: 'policy' })
  assert.equal(resumed.card(key)?.hostedAgent, hostedAgent)
})

test('a second device that a member has named is known by both, also to a reader that continues', async () => {
  const { lines } = await openWithSecondDevice()
  const reader = newReader()
  await reader.take(await pageOf(lines))
  const [named] = reader.facts.vouchedBy
  assert.deepEqual(named, [stranger.signing.thumbprint, member.signing.thumbprint])
  const card = reader.card(stranger.signing.thumbprint)
  assert.deepEqual([card?.invitedAs, card?.vouchedBy], ['grace@example.org', { key: member.signing.thumbprint, name: 'Grace' }])
  assert.deepEqual(reader.vouched, [], 'it is on the list')
  const options = { room, owner: owner.signing.thumbprint, device: member }
  const state = JSON.parse(JSON.stringify(reader.state))
  const resumed = await ListedReader.resume(options, { hashes: reader.hashes, ids: ['m1', 'm2', 'm3'], state })
  assert.deepEqual(resumed.card(stranger.signing.thumbprint), card)
})

test('the device of a hosted agent names no second device, with which its operator would read unseen', async () => {
  const store = await openHosted()
  await store.write({ t: 'vouch', card: await signCard(stranger, room, 'Lamplighter') }, { by: runner })
  const reader = newReader()
  await reader.take(await pageOf(store.lines))
  assert.deepEqual([reader.card(stranger.signing.thumbprint), reader.vouched], [undefined, []])
  await store.write({ t: 'vouch', card: await signCard(stranger, room, 'Grace') }, { by: member })
  const count = store.lines.length
  await reader.take(await pageOf(store.lines.slice(count - 1), {}, count - 1))
  assert.equal(reader.card(stranger.signing.thumbprint)?.vouchedBy?.key, member.signing.thumbprint, 'a member does')
})

test('a list may name a device as removed that was never on it, and a name is counted in code points', async () => {
  assert.equal(await problemOf(await openWithUnknownRevoked()), undefined)
  assert.equal(await problemOf(await openWithLongName()), undefined)
})

for (const [name, { open, shown, offered }] of Object.entries(contested)) {
  test(`${name}: only what the device itself has agreed to counts`, async () => {
    const reader = newReader()
    const entries = await reader.take(await pageOf((await open()).lines))
    assert.equal(reader.vouched.length, offered)
    if (!shown) return
    const { key = '' } = entries.at(-1)!.author
    const { invitedAs, vouchedBy } = reader.card(key)!
    assert.deepEqual([key, vouchedBy?.key, invitedAs], [stranger.signing.thumbprint, shown.named_by, shown.invited])
    assert.equal(reader.device(key).token, undefined, 'nobody else seals its token')
  })
}

for (const [name, { open }] of Object.entries(contested)) {
  test(`${name}: a reader that continues after each line finds the same`, async () => {
    const { lines } = await open()
    const whole = newReader()
    await whole.take(await pageOf(lines))
    const options = { room, owner: owner.signing.thumbprint, device: member }
    let reader = newReader()
    for (const [at, line] of lines.entries()) {
      await reader.take(await pageOf([line], {}, at))
      const { hashes, state } = reader
      if (state) reader = await ListedReader.resume(options, { hashes, ids: [], state: JSON.parse(JSON.stringify(state)) })
    }
    assert.deepEqual(reader.vouched, whole.vouched)
    for (const about of ['answers', 'invitedAs', 'vouchedBy', 'tokens'] as const)
      assert.deepEqual([...reader.facts[about]], [...whole.facts[about]])
  })
}

test('the device of a hosted agent that has left answers no invitation: it never becomes that of a person', async () => {
  const store = await openAfterHosted()
  await inviteAs(store, guest, 'Grace')
  await store.write({ t: 'answer', card: await signCard(runner, room, 'Grace', guest.signing.thumbprint) }, { by: guest })
  const reader = newReader()
  await reader.take(await pageOf(store.lines))
  assert.deepEqual(
    reader.invites.map(({ invite, answer }) => [invite.for, answer]),
    [['Grace', undefined]],
  )
})

test('the newest five devices of each member are offered, and a removed member leaves with those that it has named', async () => {
  const reader = newReader()
  await reader.take(await pageOf((await contestedDevices['a member names six devices']!.open()).lines))
  const { vouchedBy } = reader.facts
  const [first, ...named] = [...vouchedBy.keys()]
  assert.deepEqual(reader.vouched, [first, ...named.slice(1)], 'the oldest of Mallory is not offered')
  assert.deepEqual(new Set(reader.withNamed([vouchedBy.get(named[0]!)!])), new Set([vouchedBy.get(named[0]!), ...named]))
})
