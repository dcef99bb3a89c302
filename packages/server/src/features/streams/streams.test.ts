import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { openStream, type OpenStream } from '#testing/read-stream.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { recordEvent } from '../events/record-event.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

interface Made {
  id: string
  owner: { key: string; collectionToken: string }
}

async function make(of: TestTenant, body: object = { item_access: 'open', wall: true }): Promise<Made> {
  const { data } = (await send(api, 'POST', '/collections', { key: of.publishableKey, body })).body
  return { id: data.id, owner: { key: of.publishableKey, collectionToken: data.admin_token } }
}
const add = async ({ id, owner }: Made, content: unknown): Promise<string> =>
  (await send(api, 'POST', `/collections/${id}/items`, { key: owner.key, body: { type: 'm', content } })).body.data.id
const curate = async ({ id, owner }: Made, item: string, body: object) =>
  assert.equal((await send(api, 'PATCH', `/collections/${id}/items/${item}`, { ...owner, body })).status, 200)
const remove = ({ id, owner }: Made, item: string) => send(api, 'DELETE', `/collections/${id}/items/${item}`, owner)
const stream = (path: string, options: Parameters<typeof openStream>[2] = {}) => openStream(api.baseUrl, path, options)
const namesOf = ({ messages }: OpenStream) => messages.map(({ event }) => event)

test('a tenant streams all its events, as they are listed, from when it opens', async (t) => {
  const own = await api.makeTenant()
  const made = await make(own)
  await add(made, 'before')
  const open = await stream('/events/stream', { key: own.secretKey })
  t.after(() => open.close())
  assert.equal(open.status, 200)
  assert.equal(open.headers['content-type'], 'text/event-stream')
  assert.equal(open.headers['cache-control'], 'no-store')
  await open.untilCount(1)
  const first = await add(made, 'one')
  await add(made, 'two')
  await curate(made, first, { hero: true })
  await send(api, 'DELETE', `/collections/${made.id}`, made.owner)
  await open.untilCount(5)
  assert.deepEqual(namesOf(open), ['ready', 'item.created', 'item.created', 'item.updated', 'collection.deleted'])
  const listed = await pullEvents(api, own)
  assert.deepEqual(
    open.messages.slice(1).map(({ data }) => data),
    listed.slice(-4),
  )
})

test('with the publishable key a collection streams its open items, and nothing of others', async (t) => {
  const made = await make(tenant)
  const hidden = await make(tenant, {})
  const open = await stream(`/collections/${made.id}/stream`, { key: tenant.publishableKey })
  const wall = await stream(`/collections/${made.id}/wall/stream`)
  t.after(() => [open, wall].forEach((one) => one.close()))
  await Promise.all([open.untilCount(1), wall.untilCount(1)])
  const first = await add(made, { text: 'Grüße\n\ndata: x\r\n\u2028🌍' })
  await curate(hidden, await add(hidden, 'elsewhere'), { hero: true })
  await curate(made, first, { hero: true })
  await curate(made, first, { approved: false })
  await curate(made, first, { archived: true })
  await curate(made, first, { hero: false })
  await curate(made, first, { approved: true, archived: false })
  await curate(made, first, { access: 'email', grant: ['ada@example.org'] })
  const second = await add(made, 'second')
  await curate(made, second, { access: 'owner' })
  await remove(made, second)
  const third = await add(made, 'third')
  await remove(made, third)
  const last = await add(made, 'last')
  for (const one of [open, wall]) {
    while (one.messages.at(-1)?.data.content !== 'last') await one.untilCount(one.messages.length + 1)
    const changes = one.messages.slice(1).map(({ event, data }) => [event, data.id])
    // What was hidden before its message was sent is left out; how much of it is a matter of time.
    const kept = changes.filter(([event, id]) => event === 'removed' || id === last)
    assert.deepEqual(kept, [
      ['removed', first],
      ['removed', first],
      ['removed', second],
      ['removed', third],
      ['item', last],
    ])
    const { created_at, ...item } = one.messages.at(-1)!.data
    assert.deepEqual(item, { id: last, type: 'm', content: 'last', author: null, hero: false })
    assert.match(created_at, /Z$/)
  }
})

test('a bulk sends the removal of each item that was open, and of no other', async (t) => {
  const made = await make(tenant)
  const [first, hidden, second] = [await add(made, 1), await add(made, 2), await add(made, 3)]
  await curate(made, hidden, { access: 'owner' })
  const open = await stream(`/collections/${made.id}/stream`, { key: tenant.publishableKey })
  t.after(() => open.close())
  await open.untilCount(1)
  const bulk = (body: object) => send(api, 'POST', `/collections/${made.id}/items/bulk`, { ...made.owner, body })
  await bulk({ ids: [first, hidden, second], patch: { archived: true } })
  await bulk({ ids: [hidden, second], delete: true })
  await bulk({ ids: [first], patch: { archived: false } })
  await open.untilCount(4)
  assert.deepEqual(
    open.messages.slice(1).map(({ event, data }) => [event, data.id]),
    [
      ['removed', first],
      ['removed', second],
      ['item', first],
    ],
  )
})

test('the hero that another one replaces is sent too, and content arrives as it was added', async (t) => {
  const made = await make(tenant)
  const open = await stream(`/collections/${made.id}/wall/stream`)
  t.after(() => open.close())
  const content = { text: 'Grüße\n\ndata: x\r\n\u2028🌍', deep: [null, 1] }
  const first = await add(made, content)
  assert.deepEqual((await open.untilCount(2)).data.content, content)
  await curate(made, first, { hero: true })
  assert.deepEqual([(await open.untilCount(3)).data.id, open.messages[2]!.data.hero], [first, true])
  const second = await add(made, 'second')
  await open.untilCount(4)
  await curate(made, second, { hero: true })
  await open.untilCount(6)
  assert.deepEqual(
    open.messages.slice(4).map(({ data }) => [data.id, data.hero]),
    [
      [first, false],
      [second, true],
    ],
  )
})

test('the owner streams the events of items, artifacts and state, without the sequence of the tenant', async (t) => {
  const made = await make(tenant, {})
  const other = await make(tenant)
  const open = await stream(`/collections/${made.id}/stream`, made.owner)
  t.after(() => open.close())
  await open.untilCount(1)
  await add(other, 'elsewhere')
  const item = await add(made, 'mine')
  const artifact = { kind: 'image', url: 'https://pictures.example/a.webp' }
  await send(api, 'POST', `/collections/${made.id}/artifacts`, { ...made.owner, body: artifact })
  await send(api, 'POST', `/collections/${made.id}/state`, { ...made.owner, body: { state: 'ready' } })
  await open.untilCount(4)
  assert.deepEqual(namesOf(open), ['ready', 'item.created', 'artifact.ready', 'collection.state_changed'])
  const { data } = open.messages[1]!
  assert.deepEqual(Object.keys(data), ['id', 'type', 'created_at', 'data'])
  assert.equal(data.data.item_id, item)
})

test('a stream that goes on after an id misses nothing and repeats nothing', async () => {
  const made = await make(tenant)
  const seen: number[] = []
  let lastEventId: string | undefined
  const path = `/collections/${made.id}/stream`
  const first = await stream(path, { key: tenant.publishableKey })
  lastEventId = (await first.untilCount(1)).id
  first.close()
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 70; i++) await add(made, round * 70 + i)
    const open = await stream(path, { key: tenant.publishableKey, lastEventId })
    // Cut in the middle of a page.
    await open.untilCount(round === 4 ? 350 - seen.length : 40)
    open.close()
    seen.push(...open.messages.map(({ data }) => data.content))
    lastEventId = open.messages.at(-1)!.id
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 350 }, (_, i) => i),
  )
})

test('an event that commits late is sent after those that committed before', async (t) => {
  const own = await api.makeTenant()
  const made = await make(own)
  const open = await stream('/events/stream', { key: own.secretKey })
  t.after(() => open.close())
  const slow = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const writing = api.ctx.db.transaction(async (tx) => {
    await recordEvent(tx, own.id, 'item.deleted', { collection_id: made.id, item_id: 'itm_4fRzK0vXcB1mQwErTy7uPa' })
    written.resolve()
    await slow.promise
  })
  await written.promise
  await add(made, 'quick')
  const quick = await open.untilCount(2)
  slow.resolve()
  await writing
  const late = await open.untilCount(3)
  assert.deepEqual(namesOf(open), ['ready', 'item.created', 'item.deleted'])
  const again = await stream('/events/stream', { key: own.secretKey, lastEventId: quick.id })
  t.after(() => again.close())
  assert.deepEqual((await again.untilCount(1)).data, late.data)
})

test('a stream starts now, however many events have no number yet', async (t) => {
  const own = await api.makeTenant()
  const made = await make(own)
  await api.ctx.db.pool.query(
    `insert into event_outbox (tenant_id, id, type, data)
     select $1, 'evt_' || lpad(n::text, 22, '0'), 'item.deleted', json_build_object('item_id', n) from generate_series(1, 1700) n`,
    [own.id],
  )
  const open = await stream('/events/stream', { key: own.secretKey })
  t.after(() => open.close())
  await open.untilCount(1)
  await add(made, 'new')
  await open.untilCount(2)
  assert.deepEqual(namesOf(open), ['ready', 'item.created'])
})

test('an id is good for its own stream alone', async () => {
  const [made, other] = [await make(tenant), await make(tenant)]
  const key = tenant.publishableKey
  const paths: [string, object][] = [
    ['/events/stream', { key: tenant.secretKey }],
    [`/collections/${made.id}/stream`, { key }],
    [`/collections/${made.id}/stream`, made.owner],
    [`/collections/${made.id}/wall/stream`, {}],
    [`/collections/${other.id}/stream`, { key }],
  ]
  const ids: string[] = []
  for (const [path, options] of paths) {
    const open = await stream(path, options)
    ids.push((await open.untilCount(1)).id)
    open.close()
  }
  const flipped = Buffer.from(ids[1]!, 'base64url')
  flipped[20]! ^= 1
  const hostile = [
    '0',
    '1',
    '-1',
    'x'.repeat(5_000),
    `${ids[1]}A`,
    `${ids[1]}=`,
    `${ids[1]}, ${ids[1]}`,
    flipped.toString('base64url'),
    'ü',
    "' or 1=1",
  ]
  for (const [i, [path, options]] of paths.entries()) {
    for (const id of [...ids.filter((_, j) => j !== i), ...hostile]) {
      const got = await stream(path, { ...options, lastEventId: Buffer.from(id).toString('latin1') })
      assert.deepEqual([got.status, JSON.parse(got.text).error.code], [400, 'invalid_cursor'], `${path} ${id}`)
    }
    const good = await stream(`${path}?cursor=${ids[i]}`, options)
    assert.equal(good.status, 200)
    good.close()
  }
  const header = await stream(`/collections/${made.id}/stream?cursor=${ids[4]}`, { key, lastEventId: ids[1] })
  assert.equal(header.status, 200, 'the header takes precedence')
  header.close()
})

test('ids of a public stream do not show how much else happens', async (t) => {
  const made = await make(tenant)
  const open = await stream(`/collections/${made.id}/wall/stream`)
  t.after(() => open.close())
  await add(made, 1)
  const before = (await open.untilCount(2)).id
  const again = await stream(`/collections/${made.id}/wall/stream`, { lastEventId: before })
  t.after(() => again.close())
  const id = await add(made, 2)
  assert.notEqual((await again.untilCount(1)).id, (await open.untilCount(3)).id + id)
  assert.equal(new Set([before, ...open.messages.map((one) => one.id)].map((one) => one.length)).size, 1)
})

test('a cursor that has expired gets a reset, and the stream goes on from now', async (t) => {
  const own = await api.makeTenant()
  const made = await make(own)
  const path = `/collections/${made.id}/stream`
  const open = await stream(path, { key: own.publishableKey })
  const lastEventId = (await open.untilCount(1)).id
  open.close()
  await add(made, 'gone')
  await pullEvents(api, own)
  await api.ctx.db.pool.query('delete from events where tenant_id = $1', [own.id])
  const late = await stream(path, { key: own.publishableKey, lastEventId })
  t.after(() => late.close())
  assert.deepEqual([(await late.untilCount(1)).event, late.messages[0]!.data], ['reset', {}])
  await add(made, 'after')
  assert.equal((await late.untilCount(2)).data.content, 'after')
  const resumed = await stream(path, { key: own.publishableKey, lastEventId: late.messages[0]!.id })
  t.after(() => resumed.close())
  assert.equal((await resumed.untilCount(1)).data.content, 'after')
})

test('a box streams no item to visitors, whatever access its owner gave it', async (t) => {
  const recipient = { kty: 'OKP', crv: 'X25519', x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' }
  const made = await make(tenant, { box: { recipient } })
  const open = await stream(`/collections/${made.id}/stream`, { key: tenant.publishableKey })
  const owner = await stream(`/collections/${made.id}/stream`, made.owner)
  t.after(() => [open, owner].forEach((one) => one.close()))
  await add(made, 'sealed')
  const { item_id: item } = (await owner.untilCount(2)).data.data
  await curate(made, item, { access: 'open' })
  await owner.untilCount(3)
  await remove(made, item)
  await owner.untilCount(4)
  assert.deepEqual(namesOf(open), ['ready'])
})

test('an owner token of another collection opens the public stream, a foreign key nothing', async () => {
  const [made, other] = [await make(tenant), await make(tenant)]
  const foreign = await api.makeTenant()
  const wrong = await stream(`/collections/${made.id}/stream`, { ...made.owner, collectionToken: other.owner.collectionToken })
  assert.equal(wrong.status, 200)
  const item = await add(made, 'public')
  assert.equal((await wrong.untilCount(2)).data.id, item)
  wrong.close()
  assert.equal((await stream(`/collections/${made.id}/stream`, { key: foreign.publishableKey })).status, 404)
  assert.equal((await stream('/events/stream', { key: tenant.publishableKey })).status, 403)
  const closed = await make(tenant, { item_access: 'open' })
  const { status, text } = await stream(`/collections/${closed.id}/wall/stream`)
  assert.deepEqual([status, JSON.parse(text).error.code], [404, 'not_found'])
  assert.equal((await fetch(`${api.baseUrl}/collections/${made.id}/wall/stream`, { method: 'HEAD' })).status, 200)
})
