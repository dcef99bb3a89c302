import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
let other: TestTenant
let key: string
before(async () => {
  api = await startTestApi()
  ;[tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  key = tenant.publishableKey
})
after(() => api.close())

async function make(body: object = { item_access: 'open' }) {
  const { data } = (await send(api, 'POST', '/collections', { key, body })).body
  return { id: data.id as string, owner: { key, collectionToken: data.admin_token as string } }
}
const add = async (id: string, body: object) =>
  (await send(api, 'POST', `/collections/${id}/items`, { key, body })).body.data.id as string
const open = (id: string, query = '', as = key) => send(api, 'GET', `/collections/${id}/items/open${query}`, { key: as })
const contents = async (id: string, query = '') => (await open(id, query)).body.data.map((item: any) => item.content)

test('a collection with open items shows them to everyone with the publishable key, newest first', async () => {
  const { id, owner } = await make()
  const first = await add(id, { type: 'message', content: { text: 'first' }, author: 'Ada' })
  await add(id, { type: 'message', content: 2 })
  const { status, body } = await open(id)
  assert.equal(status, 200)
  assert.deepEqual(
    body.data.map((item: any) => item.content),
    [2, { text: 'first' }],
  )
  const { created_at, ...rest } = body.data[1]
  assert.deepEqual(rest, { id: first, type: 'message', content: { text: 'first' }, author: 'Ada', hero: false })
  assert.match(created_at, /Z$/)
  assert.deepEqual(await contents(id, '?order=oldest'), [{ text: 'first' }, 2])
  const one = await send(api, 'GET', `/collections/${id}/items/${first}`, { key })
  assert.equal(one.body.data.access, 'open')
  assert.equal((await send(api, 'GET', `/collections/${id}`, owner)).body.data.item_access, 'open')
})

test('only approved, not archived items with the access open are in the list', async () => {
  const { id, owner } = await make()
  for (const [content, patch] of [
    ['shown', { hero: true }],
    ['unapproved', { approved: false }],
    ['archived', { archived: true }],
    ['for the owner', { access: 'owner' }],
    ['for accounts', { access: 'email', grant: ['ada@example.org'] }],
  ] as const) {
    const item = await add(id, { type: 'message', content })
    assert.equal((await send(api, 'PATCH', `/collections/${id}/items/${item}`, { ...owner, body: patch })).status, 200)
  }
  assert.deepEqual(await contents(id), ['shown'])
  assert.equal((await open(id)).body.data[0].hero, true)
})

test('item_access holds for the items that are added from then on', async () => {
  const { id, owner } = await make({})
  await add(id, { type: 'message', content: 'before' })
  assert.deepEqual(await contents(id), [])
  const patched = await send(api, 'PATCH', `/collections/${id}`, { ...owner, body: { item_access: 'open', wall: true } })
  assert.deepEqual([patched.body.data.item_access, patched.body.data.wall], ['open', true])
  await add(id, { type: 'message', content: 'open' })
  await send(api, 'PATCH', `/collections/${id}`, { ...owner, body: { item_access: 'owner' } })
  await add(id, { type: 'message', content: 'after' })
  assert.deepEqual(await contents(id), ['open'])
  const { body } = await send(api, 'GET', `/events?limit=200`, { key: tenant.secretKey })
  const told = body.data.filter((event: any) => event.type === 'item.created' && event.data.collection_id === id)
  assert.deepEqual(
    told.map((event: any) => event.data.access),
    ['owner', 'open', 'owner'],
  )
})

test('pages follow each other without gap or repeat, in both orders, of all types and of one', async () => {
  const { id } = await make()
  for (let i = 0; i < 9; i++) await add(id, { type: i % 3 === 0 ? 'photo' : 'message', content: i })
  const walk = async (query: string) => {
    const seen: number[] = []
    for (let cursor = ''; ;) {
      const { body } = await open(id, `?limit=2${query}${cursor}`)
      seen.push(...body.data.map((item: any) => item.content))
      if (!body.meta.next_cursor) return seen
      cursor = `&cursor=${body.meta.next_cursor}`
    }
  }
  assert.deepEqual(await walk(''), [8, 7, 6, 5, 4, 3, 2, 1, 0])
  assert.deepEqual(await walk('&order=oldest'), [0, 1, 2, 3, 4, 5, 6, 7, 8])
  assert.deepEqual(await walk('&type=photo'), [6, 3, 0])
  const { next_cursor } = (await open(id, '?limit=2')).body.meta
  for (const query of ['?order=oldest', '?type=photo']) {
    const { status, body } = await open(id, `${query}&cursor=${next_cursor}`)
    assert.deepEqual([status, body.error.code], [400, 'invalid_cursor'], query)
  }
})

test('a page of large items ends by its size, with a next cursor', async () => {
  const { id } = await make()
  for (let i = 0; i < 60; i++) await add(id, { type: 'message', content: 'x'.repeat(65_000) })
  const { body } = await open(id, '?limit=60')
  assert.ok(body.data.length >= 50 && body.data.length < 60, `${body.data.length}`)
  assert.equal((await open(id, `?limit=60&cursor=${body.meta.next_cursor}`)).body.data.length, 60 - body.data.length)
})

test('a box shows its items to nobody and cannot be told to', async () => {
  const { publicKey } = await generateKeyPair('ECDH-ES+A256KW', { extractable: true })
  const box = { recipient: { ...(await exportJWK(publicKey)) } }
  for (const [field, value] of [
    ['item_access', 'open'],
    ['wall', true],
  ] as const) {
    const refused = await send(api, 'POST', '/collections', { key, body: { box, [field]: value } })
    assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, `/${field}`])
  }
  const { id, owner } = await make({ box })
  const refused = await send(api, 'PATCH', `/collections/${id}`, { ...owner, body: { item_access: 'open' } })
  assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, '/item_access'])
  await add(id, { type: 'message', content: 'sealed' })
  const { items } = (await send(api, 'GET', `/collections/${id}/items`, owner)).body.data
  await send(api, 'PATCH', `/collections/${id}/items/${items[0].id}`, { ...owner, body: { access: 'open' } })
  assert.deepEqual((await open(id)).body.data, [])
})

test("another tenant's collection is not there", async () => {
  const { id } = await make()
  for (const as of [other.publishableKey, other.secretKey]) assert.equal((await open(id, '', as)).status, 404)
})

test('a page reads as much of a large collection as of a small one', async () => {
  const { id } = await make()
  const { pool } = api.ctx.db
  const fill = (access: string, from: number, to: number) =>
    pool.query(
      `insert into items (tenant_id, collection_id, id, seq, type, content, access, approved)
       select tenant_id, id, 'itm_' || n, n, case when n % 1000 = 0 then 'rare' else 'message' end, to_json(n), $2, n % 2 = 0
       from collections, generate_series($3::int, $4::int) n where id = $1`,
      [id, access, from, to],
    )
  await fill('open', 1, 4_000)
  await fill('owner', 4_001, 24_000)
  await pool.query('analyze items')
  for (const [query, type] of [
    ['order by seq desc limit 51', ''],
    ['order by seq limit 51', "and type = 'rare'"],
  ]) {
    const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
      `explain (analyze, buffers, format json) select id from items where tenant_id = (select tenant_id from collections where id = $1)
       and collection_id = $1 and approved and not archived and access = 'open' ${type} ${query}`,
      [id],
    )
    const plan = rows[0]!['QUERY PLAN'][0]!.Plan
    assert.ok(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']! < 80, JSON.stringify(plan))
  }
  assert.deepEqual(await contents(id, '?limit=2'), [4_000, 3_998])
  assert.deepEqual(await contents(id, '?type=rare&limit=2&order=oldest'), [1_000, 2_000])
})
