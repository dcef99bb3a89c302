import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { leastMs } from '#testing/busy-machine.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { fill } from '#testing/test-database.ts'

let api: TestApi
before(async () => (api = await startTestApi()))
after(() => api.close())

const make = async ({ publishableKey: key }: TestTenant, title?: string) => {
  const body = { metadata: title === undefined ? {} : { share_title: title, other: 'needle' } }
  return (await send(api, 'POST', '/collections', { key, body })).body.data as { id: string; admin_token: string }
}
const list = (tenant: TestTenant, query = '') => send(api, 'GET', `/collections${query}`, { key: tenant.secretKey })

async function walk(tenant: TestTenant, query: string): Promise<string[]> {
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const { status, body } = await list(tenant, `?${query}${cursor}`)
    assert.equal(status, 200, JSON.stringify(body))
    seen.push(...body.data.map((one: any) => one.id))
    if (!body.meta.next_cursor) return seen
    cursor = `&cursor=${body.meta.next_cursor}`
  }
}

test('a tenant lists its own collections, newest first, page by page', async () => {
  const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  const made: string[] = []
  for (let i = 0; i < 5; i++) made.push((await make(tenant, `Evening ${i}`)).id)
  await make(other)
  const { body } = await list(tenant)
  assert.deepEqual(new Set(body.data.map((one: any) => one.id)), new Set(made))
  assert.deepEqual(Object.keys(body.data[0]).toSorted(), [
    'contributor_policy',
    'created_at',
    'id',
    'item_count',
    'metadata',
    'state',
  ])
  const times = body.data.map((one: any) => one.created_at)
  assert.deepEqual(times, times.toSorted().toReversed())
  assert.deepEqual(
    await walk(tenant, 'limit=2'),
    body.data.map((one: any) => one.id),
  )
  assert.equal(JSON.stringify(body).includes('cat_'), false)
})

test('collections of one millisecond are each listed once', async () => {
  const tenant = await api.makeTenant()
  for (let i = 0; i < 7; i++) await make(tenant)
  await api.ctx.db.pool.query('update collections set created_at = now() where tenant_id = $1', [tenant.id])
  assert.equal(new Set(await walk(tenant, 'limit=3')).size, 7)
})

test('the list is filtered by state and by a part of the title', async () => {
  const tenant = await api.makeTenant()
  const titles = ['Über Lanterns', 'lantern night', 'Guest 100% book_1', 'Say "hi" \\ bye', undefined, 'With a \u0007 bell']
  const ids: string[] = []
  for (const title of titles) {
    const { id, admin_token } = await make(tenant, title)
    ids.push(id)
    if (title === 'lantern night')
      await send(api, 'POST', `/collections/${id}/state`, {
        key: tenant.publishableKey,
        collectionToken: admin_token,
        body: { state: 'closed' },
      })
  }
  const found = async (query: Record<string, string>) =>
    (await walk(tenant, new URLSearchParams(query).toString())).map((id) => titles[ids.indexOf(id)]).toSorted()
  assert.deepEqual(await found({ q: 'LANTERN' }), ['lantern night', 'Über Lanterns'])
  assert.deepEqual(await found({ q: 'über' }), ['Über Lanterns'])
  assert.deepEqual(await found({ q: '0% b' }), ['Guest 100% book_1'])
  assert.deepEqual(await found({ q: 'k_1' }), ['Guest 100% book_1'])
  assert.deepEqual(await found({ q: '"hi" \\' }), ['Say "hi" \\ bye'])
  assert.deepEqual(await found({ q: 'bell' }), ['With a \u0007 bell'])
  assert.deepEqual(await found({ q: 'needle' }), [], 'other metadata is not searched')
  assert.deepEqual(await found({ state: 'closed' }), ['lantern night'])
  assert.deepEqual(await found({ state: 'open', q: 'lantern' }), ['Über Lanterns'])
  assert.equal((await list(tenant, '?q=%00')).status, 400)
})

test('a cursor is good for the filters that gave it alone', async () => {
  const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  for (let i = 0; i < 3; i++) await make(tenant, 'Lantern')
  const { next_cursor } = (await list(tenant, '?limit=1&q=lantern')).body.meta
  assert.equal((await list(tenant, `?q=lantern&cursor=${next_cursor}`)).body.data.length, 2)
  for (const [as, query] of [
    [tenant, ''],
    [tenant, 'q=lanter'],
    [tenant, 'q=lantern&state=open'],
    [other, 'q=lantern'],
  ] as const) {
    const { status, body } = await list(as, `?${query}&cursor=${next_cursor}`)
    assert.deepEqual([status, body.error.code], [400, 'invalid_cursor'], query)
  }
})

test('a rare title is found among 100,000 collections, in calls that each read a bounded number', async () => {
  const tenant = await api.makeTenant()
  await fill(
    api.databaseUrl,
    `insert into collections (tenant_id, id, metadata, app_state, contributor_policy, admin_token_hash, created_at)
     select $1, 'col_' || n, format('{"share_title":"Evening %s","theme":"paper"}', n)::json, '{}', 'open', '',
       now() - n * interval '1 second'
     from generate_series(1, 99990) n`,
    [tenant.id],
  )
  await make(tenant)
  for (const query of ['q=evening%2099990', 'limit=50', 'state=closed']) {
    // 160 ms on two idle cores.
    assert.ok((await leastMs(2_000, () => list(tenant, `?${query}`))) < 2_000, query)
  }
  assert.deepEqual(await walk(tenant, 'q=evening%2099990'), ['col_99990'])
  assert.deepEqual(await walk(tenant, 'q=nowhere'), [])
})
