import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineHash } from '@atrium/sealing/web-lines'
import { TamperedRoomError } from './tampered-room-error.ts'
import { leavingWith } from './leaving-with.ts'
import { ListedReader } from './listed-reader.ts'
import { signCard } from './room-device.ts'
import { contestedDevices, first as guest, inviteAs } from './testing/contested-devices.ts'
import { rememberCrypto } from './testing/remember-crypto.ts'
import { returningDevices } from './testing/returning-devices.ts'
import { hostedAgent, openAfterHosted, openHosted, tamperedHostedRooms } from './testing/tampered-hosted-rooms.ts'
import {
  type ListedStore,
  member,
  memberKey,
  openListed,
  openRekeyed,
  owner,
  ownerKey,
  room,
  runner,
  stranger,
  tamperedListedRooms,
} from './testing/tampered-listed-rooms.ts'
import { openWithSecondDevice, tamperedSecondDevices } from './testing/tampered-second-devices.ts'
import { pageOf, swap } from './testing/tampered-rooms.ts'
import { openAsDeepAsAllowed, openWithLongName, openWithUnknownRevoked, tamperedSpellings } from './testing/tampered-spellings.ts'

rememberCrypto()

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

for (const [name, [, pages]] of Object.entries(tampered)) {
  test(`${name}: the messages before are those that a reader accepts alone, and no others`, async () => {
    for (const device of [member, owner]) {
      const reader = newReader(device)
      const all = (await pages()) as { lines: string[] }[]
      let from = 0
      let found: TamperedRoomError | undefined
      for (const page of all) {
        try {
          await reader.take(page as never)
          from += page.lines.length
        } catch (error) {
          assert.ok(error instanceof TamperedRoomError, String(error))
          found = error
          break
        }
      }
      if (!found) continue
      const lines = all.flatMap((page) => page.lines)
      const before = from === 0 ? [] : await newReader(device).take(await pageOf(lines.slice(0, from)))
      let accepted = before
      for (let end = from + 1; end <= Math.min(found.seq, lines.length); end++) {
        const taken = await newReader(device)
          .take(await pageOf(lines.slice(0, end)))
          .catch(() => undefined)
        if (!taken) break
        accepted = taken
      }
      const expected = accepted.slice(before.length).map(({ id }) => id)
      const ids = found.entries.map(({ id }) => id)
      // A key that only a later list brings may open more, and only of the lines before the one that is named.
      assert.deepEqual(ids.slice(0, expected.length), expected)
      assert.ok(found.entries.every(({ seq }) => seq < found.seq))
    }
  })
}

/** A message that a stranger has signed under the name of the member. */
async function forge(store: ListedStore): Promise<void> {
  const by = { ...stranger, signing: { ...stranger.signing, thumbprint: member.signing.thumbprint } }
  await store.write({ t: 'turn', id: 'forged', at: '2026-11-23T09:30:00.000Z', text: 'x' }, { by })
}

test('a line whose signature is wrong hides no line before it, and what a later line says of devices does not count', async () => {
  const store = await openListed()
  await store.speak('m3', member)
  const seen = (await store.seen())!
  await forge(store)
  await store.write({ t: 'vouch', card: await signCard(stranger, room, 'Stranger', member.signing.thumbprint) }, { by: member })
  await store.speak('m4', member)
  const reader = newReader()
  const error: unknown = await reader.take(await pageOf(store.lines)).catch((failure: unknown) => failure)
  assert.ok(error instanceof TamperedRoomError)
  assert.deepEqual([error.problem, error.seq], ['signature', seen.seq + 1])
  assert.deepEqual(error.entries.at(-1)?.id, 'm3')
  assert.equal(reader.card(stranger.signing.thumbprint), undefined)
})

test('a list after the line that is wrong does not count, nor does its key', async () => {
  const store = await openListed()
  const seen = (await store.seen())!
  await forge(store)
  await store.rekey({ devices: [ownerKey], revoked: [memberKey] })
  const reader = newReader(owner)
  await assert.rejects(reader.take(await pageOf(store.lines)), { problem: 'signature', seq: seen.seq + 1 })
  assert.deepEqual(reader.facts.revoked, [])
  assert.ok(reader.force?.policy.devices.includes(memberKey))
  assert.deepEqual(reader.position, { sinceCount: seen.seq + 1, sinceEtag: seen.hash })
  assert.equal(reader.facts.newestKeys?.access, reader.force?.keys.access)
  assert.equal(reader.state, undefined)

  // The newest list opens, and brings the keys of a list before that does not.
  const other = await openListed()
  const before = await other.seen()
  await other.rekey()
  await alterLast(other)
  await other.rekey()
  const second = newReader(owner)
  await assert.rejects(second.take(await pageOf(other.lines)), { problem: 'sealed', seq: before!.seq + 1 })
  assert.equal(second.facts.newestKeys?.access, second.force?.keys.access)
  assert.equal(second.force?.policy.generation, 1)
})

/** The owner goes on as if the list had been written like this. */
async function alterLast(store: ListedStore): Promise<void> {
  store.lines.push(swap(store.lines.pop()!, 'ciphertext'))
  store.listHash = await lineHash(store.lines.at(-1)!)
}

test('an owner who writes many wrong lists does not keep a reader busy', async () => {
  const store = await openListed()
  const before = await newReader(owner).take(await pageOf(store.lines))
  assert.ok(before.length > 0)
  for (let wrong = 1; wrong <= 6; wrong++) {
    await store.change()
    await alterLast(store)
    const error: unknown = await newReader(owner)
      .take(await pageOf(store.lines))
      .catch((failure: unknown) => failure)
    assert.ok(error instanceof TamperedRoomError)
    assert.deepEqual([error.problem, error.seq], ['sealed', store.lines.length - 1])
    assert.deepEqual(error.entries, wrong < 5 ? before : [])
  }
})

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
      assert.deepEqual(read, [
        [ownerKey, 'message m1'],
        [memberKey, 'message m2'],
        [ownerKey, 'message m3'],
        [memberKey, 'message m4'],
      ])
      assert.equal(reader.force?.policy.generation, 2)
      assert.equal(reader.card(memberKey)?.invitedAs, 'grace@example.org')
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

test('a worker can send, and a device can keep, what a reader knows of lines that are nested as deep as they may be', async () => {
  const reader = newReader()
  for (const page of await openAsDeepAsAllowed()) await reader.take(page as never)
  assert.equal(structuredClone(reader.facts).cards.size, reader.facts.cards.size)
  assert.deepEqual(JSON.parse(JSON.stringify(reader.state)).cards.length, reader.facts.cards.size)
  assert.deepEqual(reader.vouched, [])
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
  assert.deepEqual(new Set(leavingWith(reader.facts, [vouchedBy.get(named[0]!)!])), new Set([vouchedBy.get(named[0]!), ...named]))
})
