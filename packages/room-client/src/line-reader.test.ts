import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { lineHash } from '@atrium/sealing/web-lines'
import { LineReader } from './line-reader.ts'
import { TamperedRoomError, type TamperProblem } from './tampered-room-error.ts'
import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import type { Entry } from './space-ops.ts'
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

/** The messages of the pages before, and those that come with the error. */
async function readUntil(pages: { lines: string[] }[]) {
  const reader = new LineReader(keys)
  const before: Entry[] = []
  let from = 0
  for (const page of pages) {
    try {
      before.push(...(await reader.take(page as never)))
      from += page.lines.length
    } catch (error) {
      assert.ok(error instanceof TamperedRoomError, String(error))
      return { before, from, lines: page.lines, error }
    }
  }
  throw new Error('nothing was found')
}

for (const [name, [, pages]] of Object.entries(tamperedRooms)) {
  test(`${name}: the messages before are those that a reader accepts alone, and no others`, async () => {
    const all = (await pages()) as { lines: string[] }[]
    const { before, from, lines, error } = await readUntil(all)
    const hashes = await Promise.all(all.flatMap((page) => page.lines.map(lineHash)).slice(0, from))
    const accepted: Entry[] = []
    // The longest beginning of the page that an honest service could have sent, up to the line that is named.
    for (let end = 1; from + end <= error.seq && end <= lines.length; end++) {
      const kept = { hashes, ids: before.map(({ id }) => id) }
      const taken = await new LineReader(keys, kept).take(await pageOf(lines.slice(0, end), {}, from)).catch(() => undefined)
      if (!taken) break
      accepted.splice(0, accepted.length, ...taken)
    }
    assert.deepEqual(error.entries, accepted)
  })
}

test('a line that is damaged where it is stored hides no line before it', async () => {
  const textsOf = async (name: string) => {
    const { error } = await readUntil((await tamperedRooms[name]![1]()) as { lines: string[] }[])
    return [error.seq, error.problem, error.entries.map(({ message }) => message.text)]
  }
  // Line 3 is altered, which the hash in line 4 shows.
  assert.deepEqual(await textsOf('a line is altered where it stands'), [4, 'chain', ['message m1', 'message m2']])
  assert.deepEqual(await textsOf('a line is no JWE'), [3, 'form', ['message m1', 'message m2']])
  assert.deepEqual(await textsOf('what is sealed is no record'), [4, 'record', ['message m1', 'message m2', 'message m3']])
})

test('what a log prints of the error has no messages in it', async () => {
  const { error } = await readUntil((await tamperedRooms['a line is no JWE']![1]()) as { lines: string[] }[])
  assert.ok(error.entries.length > 0)
  assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), /message m/)
})

test('of a line that the key does not open and an earlier one whose author saw another room, the earlier one is named', async () => {
  const store = await open(2)
  await store.say('fork', { seen: { seq: 1, hash: 'A'.repeat(43) } })
  await store.append((await open(1, { keys: await deriveClientKeys({ ...secret, mk: 'A'.repeat(43) }) })).sealed[1]!)
  await assert.rejects(new LineReader(keys).take(await pageOf(store.lines)), { problem: 'fork', seq: 3 })
})

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
