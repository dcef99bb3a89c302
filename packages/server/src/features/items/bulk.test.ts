import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { countDeadlocks, detectDeadlocks } from '#testing/deadlocks.ts'
import { send, sendUntilServed, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  await detectDeadlocks(api.databaseUrl)
  tenant = await api.makeTenant()
})
after(() => api.close())

async function make(count: number) {
  const key = tenant.publishableKey
  const { data } = (await send(api, 'POST', '/collections', { key, body: {} })).body
  const owner = { key, collectionToken: data.admin_token as string }
  const path = `/collections/${data.id}`
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const body = { type: 'message', content: i }
    ids.push((await send(api, 'POST', `${path}/items`, { key, body })).body.data.id)
  }
  return {
    id: data.id as string,
    ids,
    owner,
    bulk: (body: object, as: object = owner) => send(api, 'POST', `${path}/items/bulk`, { ...owner, ...as, body }),
    count: async () => (await send(api, 'GET', path, { key })).body.data.item_count as number,
    items: async () => (await send(api, 'GET', `${path}/items?limit=200`, owner)).body.data.items as any[],
  }
}

async function eventsOf(collection: string, type: string): Promise<any[]> {
  const found: any[] = []
  for (let after = 0; ;) {
    const { data } = (await send(api, 'GET', `/events?limit=200&after=${after}`, { key: tenant.secretKey })).body
    if (data.length === 0) return found
    found.push(...data.filter((event: any) => event.type === type && event.data.collection_id === collection))
    after = data.at(-1).sequence
  }
}

test('one call curates many items, with an event for each that changed and an exact count', async () => {
  const { id, ids, bulk, count, items } = await make(4)
  const first = await bulk({ ids: ids.slice(0, 2), patch: { approved: false } })
  assert.equal(first.status, 200)
  assert.deepEqual(
    first.body.data.results,
    ids.slice(0, 2).map((one) => ({ id: one, status: 'updated' })),
  )
  const { body } = await bulk({ ids: ids.slice(0, 3).toReversed(), patch: { approved: false, access: 'open' } })
  assert.deepEqual(
    body.data.results.map((one: any) => one.id),
    ids.slice(0, 3).toReversed(),
  )
  const again = await bulk({ ids: ids.slice(0, 3), patch: { access: 'open' } })
  assert.deepEqual(
    again.body.data.results.map((one: any) => one.status),
    ['unchanged', 'unchanged', 'unchanged'],
  )
  assert.equal(await count(), 1)
  assert.deepEqual(
    (await items()).map(({ approved, access }) => [approved, access]),
    [
      [false, 'open'],
      [false, 'open'],
      [false, 'open'],
      [true, 'owner'],
    ],
  )
  assert.equal((await eventsOf(id, 'item.updated')).length, 5)
})

test('one call deletes many items', async () => {
  const { id, ids, bulk, count, items } = await make(4)
  const { body } = await bulk({ ids: ids.slice(1), delete: true })
  assert.deepEqual(new Set(body.data.results.map((one: any) => one.status)), new Set(['deleted']))
  assert.deepEqual([await count(), (await items()).length], [1, 1])
  assert.deepEqual(
    (await eventsOf(id, 'item.deleted')).map((event) => event.data.item_id),
    ids.slice(1),
  )
})

test('an id that is not there is an error for the whole, and is named', async () => {
  const { ids, bulk, count, items } = await make(2)
  const strange = (await make(1)).ids[0]!
  for (const body of [
    { ids: [ids[0], strange, ids[1]], patch: { approved: false } },
    { ids: [ids[0], strange], delete: true },
  ]) {
    const refused = await bulk(body)
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request'])
    assert.deepEqual(refused.body.error.details, [{ path: '/ids/1', message: 'is not in the collection' }])
  }
  assert.deepEqual([await count(), (await items()).every(({ approved }) => approved)], [2, true])
})

test('a collection keeps one hero', async () => {
  const { ids, bulk, items } = await make(3)
  assert.equal((await bulk({ ids: ids.slice(0, 1), patch: { hero: true } })).status, 200)
  assert.equal((await bulk({ ids: ids.slice(1, 2), patch: { hero: true } })).status, 200)
  assert.deepEqual(
    (await items()).map(({ hero }) => hero),
    [false, true, false],
  )
  const { body } = await bulk({ ids, patch: { hero: true } })
  assert.equal(body.error.details[0].path, '/patch/hero')
  assert.equal((await bulk({ ids, patch: { hero: false } })).status, 200)
  assert.equal(
    (await items()).some(({ hero }) => hero),
    false,
  )
})

test('requests that say neither or both, too much or nothing are refused', async () => {
  const { ids, bulk } = await make(1)
  for (const body of [
    { ids },
    { ids, patch: { approved: true }, delete: true },
    { ids, delete: false },
    { ids: [], delete: true },
    { ids: [ids[0], ids[0]], delete: true },
    { ids: ['itm_x'], delete: true },
    { ids, patch: {} },
    { ids: Array.from({ length: 501 }, () => ids[0]), delete: true },
  ])
    assert.equal((await bulk(body)).status, 400, JSON.stringify(body).slice(0, 80))
})

test('only the owner may, and of another tenant nothing is there', async () => {
  const { ids, bulk } = await make(1)
  const other = await api.makeTenant()
  const body = { ids, delete: true }
  assert.equal((await bulk(body, { collectionToken: undefined })).body.error.code, 'owner_token_required')
  for (const key of [other.secretKey, other.publishableKey]) assert.equal((await bulk(body, { key })).status, 404)
})

test('bulks of the same items in any order, and single curations beside them, neither deadlock nor miscount', async () => {
  const { id, ids, owner, bulk, count, items } = await make(40)
  const rounds = Array.from({ length: 24 }, (_, i) => i)
  const statuses = await Promise.all(
    rounds.flatMap((i) => [
      untilServed(() =>
        bulk({ ids: i % 2 === 0 ? ids : ids.toReversed(), patch: { archived: i % 3 === 0, approved: i % 4 !== 0 } }),
      ),
      sendUntilServed(api, 'PATCH', `/collections/${id}/items/${ids[i]!}`, {
        ...owner,
        body: { approved: i % 2 === 0, hero: true },
      }),
      sendUntilServed(api, 'POST', `/collections/${id}/items`, { ...owner, body: { type: 'message', content: `more ${i}` } }),
    ]),
  )
  for (const { status, body } of statuses) assert.ok(status < 300, JSON.stringify(body))
  const deleted = [ids.slice(0, 20), ids.slice(10, 30).toReversed()]
  await Promise.all(deleted.map((some) => untilServed(() => bulk({ ids: some, delete: true }))))
  const left = await items()
  assert.ok(left.length === 44, `one of the two deleted its twenty, not both: ${left.length}`)
  assert.equal(await count(), left.filter(({ approved, archived }) => approved && !archived).length)
  assert.equal(await countDeadlocks(api.databaseUrl), 0)
})
