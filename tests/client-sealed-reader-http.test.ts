import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  answerInvitation,
  generateDevicePairs,
  type ListedEntry,
  type ListedRoomOptions,
  openListedRoom,
  roomDeviceOf,
} from '../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../packages/client/src/new-room-secret.ts'
import { exportPairs } from '../packages/room-client/src/room-device.ts'
import { startTestSpace, type TestSpace } from '../packages/space/src/testing/test-space.ts'
import { findProgram, skipWithout } from './support/skip-without.ts'

const python = findProgram('python3')
const skip = skipWithout('python3') || (hasCryptography() ? false : 'no cryptography here: apt-get install python3-cryptography')
const program = join(import.meta.dirname, 'oracles/client_sealed_reader.py')
const audience = 'https://rooms.example'

function hasCryptography(): boolean {
  try {
    execFileSync(python!, ['-c', 'import cryptography'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

let space: TestSpace
before(async () => {
  if (!skip) space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
})
after(() => space?.close())

/** What the service has answered to `read`. */
interface Page {
  lines: string[]
}

function recorder(pages: Page[]): typeof globalThis.fetch {
  return async (url, init) => {
    const res = await globalThis.fetch(url, init)
    if (res.ok && String(init?.body).includes('"op":"read"')) {
      const page = (await res.clone().json()) as Page
      if (page.lines.length > 0) pages.push(page)
    }
    return res
  }
}

test(
  'a reader in Python reads a room that clients have made over HTTP, with each author, generation and how that is known',
  { skip },
  async () => {
    const more = () => ({ spaceUrl: `${space.origin}/space`, audience, wait: async () => undefined })
    const ownerDevice = await roomDeviceOf(await generateDevicePairs())
    const owner = openListedRoom({ ...more(), room: newRoomSecret().room, device: ownerDevice, name: 'Ada' })
    const place = { room: owner.room, owner: ownerDevice.signing.thumbprint }
    await owner.make()
    await owner.say('Before you came.')
    const pairs = await generateDevicePairs(true)
    const device = await roomDeviceOf(pairs)
    const grace = await answerInvitation(await owner.invite('grace@example.org'), { ...more(), device, name: 'Grace' })
    await owner.admit()
    await grace.say('Good evening. 😀')
    const second = openListedRoom({ ...more(), ...place, device: await roomDeviceOf(await generateDevicePairs()) })
    await grace.vouch(await second.card(grace.key))
    const [waiting] = await owner.vouched()
    await owner.admitVouched([waiting!.key])
    await second.say('From the tram.')
    const linus = await roomDeviceOf(await generateDevicePairs())
    await answerInvitation(await owner.invite('Linus'), { ...more(), device: linus })
    await owner.admit()
    await owner.expel([linus.signing.thumbprint])
    await owner.say('Without Linus.')

    const pages: Page[] = []
    const options: ListedRoomOptions = { ...more(), ...place, device, fetch: recorder(pages) }
    const entries = await openListedRoom(options).read()
    const arguments_ = [program, '--listed', place.room, place.owner, await exportPairs(pairs)]
    const printed = execFileSync(python!, arguments_, { input: JSON.stringify(pages), encoding: 'utf8', stdio: 'pipe' })
    const lines = pages.flatMap((page) => page.lines)
    const shown = ({ seq, id, at, message, member: { key, invitedAs, vouchedBy } }: ListedEntry) => {
      const header = (JSON.parse(lines[seq]!) as { protected: string }).protected
      const { generation } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { generation: number }
      const known = { ...(invitedAs !== undefined && { invited: invitedAs }), ...(vouchedBy && { named_by: vouchedBy.key }) }
      return { seq, id, at, text: message.text, author: key, generation, ...known }
    }
    const theirs = printed.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as object]))
    assert.deepEqual(theirs, entries.map(shown))
    assert.deepEqual(
      entries.map((entry) => [shown(entry).generation, shown(entry).invited, shown(entry).named_by !== undefined]),
      [
        [0, undefined, false],
        [1, 'grace@example.org', false],
        [1, 'grace@example.org', true],
        [3, undefined, false],
      ],
    )
  },
)
