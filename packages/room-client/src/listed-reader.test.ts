import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TamperedRoomError } from './line-reader.ts'
import { ListedReader } from './listed-reader.ts'
import { member, openRekeyed, owner, room, tamperedListedRooms } from './testing/tampered-listed-rooms.ts'
import { pageOf } from './testing/tampered-rooms.ts'

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

for (const [name, [problem, pages]] of Object.entries(tamperedListedRooms))
  test(`${name}: ${problem}`, async () => assert.equal(await problemOf(await pages()), problem))

test('there are 45 of them', () => assert.ok(Object.keys(tamperedListedRooms).length >= 45))

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
