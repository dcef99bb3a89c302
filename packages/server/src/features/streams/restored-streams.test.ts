import assert from 'node:assert/strict'
import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { after, before, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { openStream, type OpenStream } from '#testing/read-stream.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

/** A tenant with a collection and its four kinds of streams. */
async function makeStreams(t: TestContext) {
  const own = await api.makeTenant()
  const key = own.publishableKey
  const { data } = (await send(api, 'POST', '/collections', { key, body: { item_access: 'open', wall: true } })).body
  const wall = `/collections/${data.id}/wall`
  const kinds = [
    ['/events/stream', { key: own.secretKey }],
    [`/collections/${data.id}/stream`, { key }],
    [`/collections/${data.id}/stream`, { key, collectionToken: data.admin_token as string }],
    [`${wall}/stream`, {}],
  ] as const
  const open = async (at: TestApi, path: string, options: Parameters<typeof openStream>[2]) => {
    const opened = await openStream(at.baseUrl, path, options)
    t.after(() => opened.close())
    return opened
  }
  const add = async (content: unknown): Promise<string> =>
    (await send(api, 'POST', `/collections/${data.id}/items`, { key, body: { type: 'm', content } })).body.data.id
  return {
    own,
    kinds,
    add,
    openAll: (at: TestApi, lastEventIds: string[] = []) =>
      Promise.all(kinds.map(([path, options], i) => open(at, path, { ...options, lastEventId: lastEventIds[i] }))),
    openWall: (at: TestApi, lastEventId: string) => open(at, `${wall}/stream`, { lastEventId }),
    cursorOfPage: async (at: TestApi) =>
      /data-cursor="([^"]+)"/.exec(await (await fetch(at.baseUrl + wall)).text())?.[1] ?? assert.fail('no cursor'),
    /** Adds an item, and asserts that it is the next message of each stream. */
    assertGoesOn: async (opened: OpenStream[]) => {
      const next = opened.map(({ messages }) => messages.length + 1)
      const id = await add('next')
      for (const [i, one] of opened.entries()) {
        const message = await one.untilCount(next[i]!)
        assert.equal(message.data.data?.item_id ?? message.data.id, id, message.event)
      }
    },
    /** The last events are lost, as in a restore. */
    loseEvents: async (count: number) => {
      const { pool } = api.ctx.db
      const last = (await pullEvents(api, own)).length - count
      await pool.query(
        `update event_heads set last_sequence = $2, chain_sequence = $2,
           chain_hash = (select hash from events where tenant_id = $1 and sequence = $2) where tenant_id = $1`,
        [own.id, last],
      )
      await pool.query('delete from events where tenant_id = $1 and sequence > $2', [own.id, last])
    },
  }
}

const idsOf = (opened: OpenStream[], count: number) => Promise.all(opened.map(async (one) => (await one.untilCount(count)).id))

async function assertReset(opened: OpenStream[]): Promise<void> {
  for (const one of opened) assert.deepEqual([(await one.untilCount(1)).event, one.messages[0]!.data], ['reset', {}])
}

test('a cursor that is beyond the log gets a reset, and the stream goes on from now', async (t) => {
  const { add, openAll, loseEvents, assertGoesOn } = await makeStreams(t)
  const opened = await openAll(api)
  for (let i = 0; i < 5; i++) await add(i)
  const ids = await idsOf(opened, 6)
  for (const one of opened) one.close()
  while (api.ctx.streams.slots.open > 0) await setImmediate()
  await loseEvents(3)
  const resumed = await openAll(api, ids)
  await assertReset(resumed)
  await assertGoesOn(resumed)
  // The id of the reset is one to go on from.
  const again = await openAll(api, await idsOf(resumed, 1))
  for (const message of await Promise.all(again.map((one) => one.untilCount(1)))) assert.match(message.event, /^item/)
})

test('a cursor from before a restore gets a reset, also once the log has grown past it', async (t) => {
  const { own, kinds, add, openAll, openWall, cursorOfPage, loseEvents, assertGoesOn } = await makeStreams(t)
  // The database as a restore leaves it once it is confirmed. Processes start after that.
  const restore = async (restoredAt: string): Promise<TestApi> => {
    await loseEvents(3)
    await api.ctx.db.pool.query(
      `insert into restores (snapshot_at, restored_at, confirmed_at) values (now(), $1, now())
       on conflict (only_row) do update set restored_at = excluded.restored_at`,
      [restoredAt],
    )
    for (let i = 0; i < 10; i++) await add(`after ${i}`)
    await pullEvents(api, own)
    return startSibling(t)
  }
  const opened = await openAll(api)
  const earliest = await idsOf(opened, 1)
  const pageBefore = await cursorOfPage(api)
  for (let i = 0; i < 5; i++) await add(i)
  const latest = await idsOf(opened, 6)

  const restored = await restore('2026-11-22T09:30:00.123Z')
  for (const ids of [earliest, latest]) {
    const resumed = await openAll(restored, ids)
    await assertReset(resumed)
    await assertGoesOn(resumed)
    // The id of the reset is one to go on from.
    const again = await openAll(restored, await idsOf(resumed, 1))
    for (const message of await Promise.all(again.map((one) => one.untilCount(1)))) assert.match(message.event, /^item/)
  }
  await assertReset([await openWall(restored, pageBefore)])
  await assertGoesOn([await openWall(restored, await cursorOfPage(restored))])
  for (const [i, [path, options]] of kinds.entries()) {
    const got = await openStream(restored.baseUrl, path, { ...options, lastEventId: latest[(i + 1) % 4] })
    assert.deepEqual([got.status, JSON.parse(got.text).error.code], [400, 'invalid_cursor'], path)
  }

  const since = await idsOf(await openAll(restored), 1)
  await assertGoesOn(await openAll(await startSibling(t), since))
  const again = await restore('2026-11-22T09:30:01.123Z')
  for (const ids of [earliest, since]) await assertReset(await openAll(again, ids))
})

async function startSibling(t: TestContext): Promise<TestApi> {
  const sibling = await startTestApi({ databaseUrl: api.databaseUrl })
  t.after(() => sibling.close())
  return sibling
}

test('without a restore, a cursor has the form of releases whose cursors do not name their log', async (t) => {
  const { own, add } = await makeStreams(t)
  await add('one')
  await add('two')
  const [, one, two] = await pullEvents(api, own)
  const origin = Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 7), '', 'atrium/streams/cursor/v1', 32))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', createHmac('sha256', origin).update(`tenant:${own.id}`).digest(), nonce)
  const position = Buffer.alloc(8)
  position.writeBigUInt64BE(BigInt(one!.sequence))
  const sealed = Buffer.concat([nonce, cipher.update(position), cipher.final(), cipher.getAuthTag()])
  const lastEventId = sealed.toString('base64url')
  const open = await openStream(api.baseUrl, '/events/stream', { key: own.secretKey, lastEventId })
  t.after(() => open.close())
  assert.deepEqual((await open.untilCount(1)).data, two)
})
