import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineReader, TamperedRoomError, type TamperProblem } from './line-reader.ts'
import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import { keys, open, pageOf, secret, tamperedRooms } from './testing/tampered-rooms.ts'

async function problemOf(pages: object[]): Promise<TamperProblem | undefined> {
  const reader = new LineReader(keys)
  try {
    for (const page of pages) await reader.take(page as never)
    return undefined
  } catch (error) {
    assert.ok(error instanceof TamperedRoomError, String(error))
    const { sinceCount, sinceEtag } = reader.position
    const next = reader.take({ lines: [], count: sinceCount, etag: sinceEtag })
    await assert.rejects(next, error, 'it reads no further')
    return error.problem
  }
}

for (const [name, [problem, pages]] of Object.entries(tamperedRooms))
  test(`${name}: ${problem}`, async () => assert.equal(await problemOf(await pages()), problem))

test('there are 30 of them', () => assert.ok(Object.keys(tamperedRooms).length >= 30))

test('an honest room is read without a complaint, in one page or in many, also with a gap in what an author saw', async () => {
  const store = await open(4)
  await store.say('late', { seen: await store.seen(1) })
  for (const size of [1, 2, 3, 10]) {
    const reader = new LineReader(keys)
    const texts: string[] = []
    for (let at = 0; at < store.lines.length; at += size) {
      const page = await pageOf(store.lines.slice(at, at + size), {}, at)
      texts.push(...(await reader.take(page)).map(({ message }) => message.text))
    }
    assert.deepEqual(texts, ['message m1', 'message m2', 'message m3', 'message m4', 'message late'])
    assert.deepEqual(reader.seen, await store.seen())
    assert.deepEqual(await reader.take({ lines: [], count: 6, etag: reader.position.sinceEtag }), [])
  }
})

test('of many lines that the key does not open, the first one is named, also if another fails earlier', async () => {
  const { lines } = await open(8, { first: 'x'.repeat(2_000_000) })
  const reader = new LineReader(await deriveClientKeys({ ...secret, mk: 'A'.repeat(43) }))
  await assert.rejects(
    reader.take(await pageOf(lines)),
    (error: unknown) => error instanceof TamperedRoomError && error.seq === 0,
  )
})
