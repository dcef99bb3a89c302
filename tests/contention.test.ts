import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeCollection, makeTenant, type Answer } from './support/call-api.ts'
import { mapConcurrently } from './support/map-concurrently.ts'

const requests = 2_000

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

for (const atOnce of [4, 8, 32]) {
  test(`every kind of write to one collection, ${atOnce} at once, is done: none waits for another in a circle`, async () => {
    const { origin } = atrium
    const { secret: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const path = `/v1/collections/${id}`
    const items: string[] = []
    const artifacts: string[] = []
    const send = (route: string, body?: unknown): Promise<Answer> =>
      call(origin, route, { key, token, ...(body === undefined ? {} : { body }) })
    const add = async (list: string[], what: string, body: object) => {
      const answer = await send(`POST ${path}/${what}`, body)
      if (answer.status === 201) list.push(answer.data.id)
      return answer
    }
    const writes: ((n: number) => Promise<Answer> | undefined)[] = [
      () => add(items, 'items', { type: 'message', content: 1 }),
      () => add(artifacts, 'artifacts', { kind: 'image', url: 'https://pictures.example/a.png' }),
      (n) => send(`PATCH ${path}`, { metadata: { n } }),
      (n) => send(`POST ${path}/state`, { app_state: { n } }),
      (n) =>
        items[0] === undefined
          ? undefined
          : send(`PATCH ${path}/items/${items[0]}`, { archived: n % 3 === 0, hero: n % 2 === 0 }),
      (n) =>
        artifacts[0] === undefined
          ? undefined
          : send(`PATCH ${path}/artifacts/${artifacts[0]}`, { published: n % 3 === 0, hero: n % 2 === 0 }),
      () => (items.length > 10 ? send(`DELETE ${path}/items/${items.pop()}`) : undefined),
      () => (artifacts.length > 10 ? send(`DELETE ${path}/artifacts/${artifacts.pop()}`) : undefined),
    ]
    const failed: string[] = []
    await mapConcurrently(
      Array.from({ length: requests }, (_, n) => n),
      atOnce,
      async (n) => {
        const startedAt = performance.now()
        // In a varying order, so that different requests meet each time.
        const write = writes[Math.floor(Math.random() * writes.length)]!
        // On a busy machine, a write that waited too long for the row is answered 503 and may be repeated. A circle would
        // not end by that.
        let answer = await write(n)
        for (let repeats = 0; answer?.status === 503 && repeats < 5; repeats++) answer = await write(n)
        const tookMs = performance.now() - startedAt
        if (answer && answer.status >= 300) failed.push(`${answer.status} ${answer.text} after ${Math.round(tookMs)} ms`)
      },
    )
    assert.deepEqual(failed.slice(0, 5), [], `${failed.length} failed`)
    const { data } = await send(`GET ${path}`)
    assert.equal(data.item_count, await counted(send, path), 'and the count is what is there')
  })
}

/** Items that are approved and not archived, over all pages. */
async function counted(send: (route: string) => Promise<Answer>, path: string): Promise<number> {
  let count = 0
  let cursor: string | undefined
  do {
    const { text } = await send(`GET ${path}/items?limit=200${cursor ? `&cursor=${cursor}` : ''}`)
    const page = JSON.parse(text) as {
      data: { items: { approved: boolean; archived: boolean }[] }
      meta?: { next_cursor?: string }
    }
    count += page.data.items.filter(({ approved, archived }) => approved && !archived).length
    cursor = page.meta?.next_cursor
  } while (cursor)
  return count
}
