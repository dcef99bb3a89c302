import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TamperedRoomError } from './tampered-room-error.ts'
import { ListedReader } from './listed-reader.ts'
import type { RoomDevice } from './room-device.ts'
import type { Entry } from './space-ops.ts'
import { contestedDevices } from './testing/contested-devices.ts'
import { rememberCrypto } from './testing/remember-crypto.ts'
import { returningDevices } from './testing/returning-devices.ts'
import { openTwoStays, tamperedHostedRooms } from './testing/tampered-hosted-rooms.ts'
import {
  type ListedStore,
  member,
  openRekeyed,
  owner,
  ownerKey,
  room,
  runner,
  stranger,
} from './testing/tampered-listed-rooms.ts'
import { pageOf } from './testing/tampered-rooms.ts'
import { openWithSecondDevice } from './testing/tampered-second-devices.ts'

rememberCrypto()

const devices = { owner, member, runner, stranger }

/** `resumes`: as the app, which keeps what it has read and continues at the next visit. */
async function read(device: RoomDevice, pages: string[][], resumes: boolean) {
  const options = { room, owner: ownerKey, device }
  let reader = new ListedReader(options)
  const entries: Entry[] = []
  let at = 0
  for (const lines of pages) {
    entries.push(...(await reader.take(await pageOf(lines, {}, at))))
    at += lines.length
    const { state, hashes } = reader
    if (!resumes || !state) continue
    const kept = JSON.parse(JSON.stringify(state)) as typeof state
    reader = await ListedReader.resume(options, { hashes, ids: entries.map(({ id }) => id), state: kept })
  }
  return { reader, entries }
}

/** Everything that a reader says of a room. */
function said({ reader, entries }: Awaited<ReturnType<typeof read>>) {
  const { position, revoked, issuers, cards, invitedAs, tokens, answers, hosted, vouchedBy, invites } = reader.facts
  const maps = { cards, invitedAs, tokens, answers, hosted, vouchedBy, invites }
  const { generation, devices: named, unopened, agents } = reader.summary
  const known = [...cards.keys()].sort().map((key) => reader.card(key))
  const lists = { policy: reader.force?.policy, vouched: reader.vouched, answered: reader.invites, known }
  const sorted = Object.entries(maps).map(([name, map]) => [name, [...map].sort(([a], [b]) => (a < b ? -1 : 1))])
  // A card that was kept has lost the members that are undefined.
  return JSON.parse(
    JSON.stringify({ position, revoked, issuers, generation, named, unopened, agents, ...lists, sorted, entries }),
  )
}

const contested = Object.entries({ ...contestedDevices, ...returningDevices }).map(([name, { open }]) => [name, open] as const)
const rooms: Record<string, () => Promise<ListedStore>> = {
  'two agents come and leave': openTwoStays,
  'the key changes': () => openRekeyed(),
  'a member has a second device': openWithSecondDevice,
  ...Object.fromEntries(contested),
}

for (const [name, open] of Object.entries(rooms)) {
  test(`${name}: a reader says the same wherever a page ends`, async () => {
    const { lines } = await open()
    for (const [who, device] of Object.entries(devices)) {
      const expected = said(await read(device, [lines], false))
      for (let end = 1; end < lines.length; end++) {
        for (const resumes of [false, true]) {
          const found = said(await read(device, [lines.slice(0, end), lines.slice(end)], resumes))
          assert.deepEqual(found, expected, `${who}, a page of ${end} lines, ${resumes ? 'resumed' : 'read on'}`)
        }
      }
    }
  })
}

test('what a list hides about an agent is found wherever a page ends', async () => {
  for (const [name, [problem, pages]] of Object.entries(tamperedHostedRooms)) {
    const [page] = (await pages()) as { lines: string[] }[]
    const { lines } = page!
    for (let end = 1; end < lines.length; end++) {
      for (const resumes of [false, true]) {
        const error = await read(member, [lines.slice(0, end), lines.slice(end)], resumes).catch((failure: unknown) => failure)
        assert.ok(error instanceof TamperedRoomError, `${name}: ${end}`)
        assert.equal(error.problem, problem, `${name}: ${end}`)
      }
    }
  }
})
