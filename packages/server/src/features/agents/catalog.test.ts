import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { mapConcurrently } from '../../../../../tests/support/map-concurrently.ts'
import { findLaunchable } from './status.ts'
import { findAgent, insertRating } from './store.ts'

const registration = { name: 'Agent', description: 'd', instructions: 'Be brief.', price_credits: 5, max_minutes: 30 }

let api: TestApi
let root: { baseUrl: string }
let tenant: TestTenant
let other: TestTenant
before(async () => {
  api = await startTestApi()
  root = { baseUrl: api.origin }
  ;[tenant, other] = [await api.makeTenant(), await api.makeTenant()]
})
after(() => api.close())

const setStatus = (by: TestTenant, id: string, status: string) =>
  send(root, 'PUT', `/agents/${id}/status`, { key: by.secretKey, body: { status } })
const moderate = (id: string, status: string, headers: Record<string, string> = { 'x-admin-token': api.adminToken }) =>
  send(api, 'POST', `/operator/agents/${id}/status`, { headers, body: { status } })
const ratingsSeenBy = (by: TestTenant, id: string) => send(root, 'GET', `/agents/${id}/ratings`, { key: by.publishableKey })
const rate = (by: TestTenant, agentId: string, sessionId: string, stars: number) =>
  api.ctx.db.transaction((tx) => insertRating(tx, by.id, agentId, { sessionId, stars }))

async function register(by: TestTenant, status?: string, more: object = {}): Promise<string> {
  const { body } = await send(root, 'POST', '/agents', { key: by.secretKey, body: { ...registration, ...more } })
  if (status) await setStatus(by, body.data.id, status)
  return body.data.id
}

/** The ids on each page. */
async function catalog(limit: number, key = tenant.publishableKey): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | undefined, first = true; first || cursor; first = false) {
    const { status, body, text } = await send(api, 'GET', `/catalog?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`, { key })
    assert.equal(status, 200, text)
    pages.push(body.data.map(({ id }: { id: string }) => id))
    cursor = body.meta.next_cursor
  }
  return pages
}
const listed = async (id: string) => (await catalog(200)).flat().includes(id)

test('the catalog shows the active agents of all tenants, in pages, in the order of their registration', async () => {
  const ids: string[] = []
  for (let n = 0; n < 120; n++) ids.push(await register(n % 2 === 0 ? tenant : other))
  for (const status of ['private', 'draft']) await register(tenant, status)
  // Activated in reverse order, which does not affect the order of the list.
  const active = ids.filter((_, n) => n % 5 !== 0)
  for (const id of active.toReversed()) await setStatus(ids.indexOf(id) % 2 === 0 ? tenant : other, id, 'active')

  const pages = await catalog(50)
  assert.deepEqual(
    pages.map(({ length }) => length),
    [50, 46],
  )
  assert.deepEqual(pages.flat(), active)
  assert.deepEqual((await catalog(7, other.secretKey)).flat(), active, 'of whatever size the pages are, and whoever asks')
  assert.deepEqual((await catalog(96)).length, 1, 'a full last page has no cursor')
})

test('pages neither repeat nor skip an agent that stays, while others come and go', async () => {
  const before = (await catalog(200)).flat()
  const seen: string[] = []
  for (let cursor: string | undefined, first = true; first || cursor; first = false) {
    const query = `/catalog?limit=10${cursor ? `&cursor=${cursor}` : ''}`
    const { body } = await send(api, 'GET', query, { key: tenant.publishableKey })
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.meta.next_cursor
    await register(tenant, 'active')
    const gone = seen.at(-1)!
    await moderate(gone, 'suspended')
  }
  assert.deepEqual(seen.slice(0, before.length), before)
  assert.equal(new Set(seen).size, seen.length)
})

test('a catalog entry shows price and rating, and nothing private to the owner', async () => {
  const shown = {
    name: 'Lamplighter',
    description: 'Tells.',
    price_credits: 7,
    max_minutes: 9,
    avatar_url: 'https://a.example/b.png',
  }
  const tools = [{ mcp: 'https://tools.example/mcp', secret: 's3cret' }]
  const id = await register(tenant, 'active', { ...shown, model: { provider: 'openai', id: 'x' }, tools, greeting: 'Hello.' })
  const entries: { id: string }[] = []
  for (let cursor = '', more = true; more;) {
    const { body } = await send(api, 'GET', `/catalog?limit=200${cursor}`, { key: tenant.publishableKey })
    entries.push(...body.data)
    more = body.meta.next_cursor !== undefined
    cursor = `&cursor=${body.meta.next_cursor}`
  }
  assert.deepEqual(
    entries.find((entry) => entry.id === id),
    { id, ...shown, hosting: 'hosted', rating: { average: null, count: 0 } },
  )
})

test('the catalog shows which agents are remote', async () => {
  const id = await register(tenant, 'active', { endpoint: 'https://agents.example/launch' })
  const { body } = await send(api, 'GET', '/catalog?limit=200', { key: tenant.publishableKey })
  const entry = (body.data as { id: string; hosting: string }[]).find((one) => one.id === id)
  assert.equal(entry?.hosting, 'remote')
})

test('an agent that an operator suspends or sets pending leaves the catalog, and its owner cannot restore it', async () => {
  for (const held of ['suspended', 'pending']) {
    const id = await register(tenant, 'active')
    assert.equal(await listed(id), true)
    const { status, body } = await moderate(id, held)
    assert.equal(status, 200)
    assert.deepEqual(body.data, { id, tenant_id: tenant.id, name: 'Agent', status: held })
    assert.equal(await listed(id), false)
    for (const wanted of ['active', 'private', 'draft']) {
      const refused = await setStatus(tenant, id, wanted)
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'state_conflict'])
    }
    assert.equal((await send(root, 'PATCH', `/agents/${id}`, { key: tenant.secretKey, body: { name: 'New' } })).status, 200)
    assert.equal(await listed(id), false, 'a change of something else does not either')
    assert.equal((await moderate(id, 'lifted')).body.data.status, 'active')
    assert.equal(await listed(id), true)
    assert.equal((await setStatus(tenant, id, 'draft')).status, 200)
    assert.equal((await moderate(id, 'lifted')).body.data.status, 'draft', 'lifting again changes nothing')
  }
})

test("a tenant can neither set an operator's status nor call an operator's operation", async () => {
  const id = await register(tenant, 'active')
  for (const status of ['suspended', 'pending', 'lifted'])
    assert.equal((await setStatus(tenant, id, status)).body.error.code, 'invalid_request')
  const refused = await moderate(id, 'suspended', { authorization: `Bearer ${tenant.secretKey}` })
  assert.deepEqual([refused.status, refused.body.error.code], [401, 'unauthorized'])
  assert.equal((await moderate('agt_0000000000000000000000', 'suspended')).body.error.code, 'not_found')
  assert.equal(await listed(id), true)
})

test('the agents of a suspended tenant are not in the catalog, until it is active again', async () => {
  const away = await api.makeTenant()
  const id = await register(away, 'active')
  const suspend = (status: string) =>
    send(api, 'POST', `/tenants/${away.id}/status`, { headers: { 'x-admin-token': api.adminToken }, body: { status } })
  await suspend('suspended')
  assert.equal(await listed(id), false)
  assert.equal(await findLaunchable(api.ctx.db, tenant.id, id), undefined)
  await suspend('active')
  assert.equal(await listed(id), true)
  assert.equal((await findLaunchable(api.ctx.db, tenant.id, id))?.id, id)
})

test('every tenant launches active agents, the owner also private ones, and no tenant drafts or held ones', async () => {
  const id = await register(tenant)
  const launchers = async () => {
    const found = await Promise.all([tenant, other].map((by) => findLaunchable(api.ctx.db, by.id, id)))
    return found.map((agent) => agent?.id)
  }
  assert.deepEqual(await launchers(), [undefined, undefined])
  await setStatus(tenant, id, 'private')
  assert.deepEqual(await launchers(), [id, undefined])
  await setStatus(tenant, id, 'active')
  assert.deepEqual(await launchers(), [id, id])
  await moderate(id, 'suspended')
  assert.deepEqual(await launchers(), [undefined, undefined])
})

test('a session rates once and the sums are exact, also when ratings are concurrent', async () => {
  const id = await register(tenant, 'active')
  const sessions = Array.from({ length: 30 }, (_, n) => `ses_${n}`)
  const twice = sessions.flatMap((session, n) => [0, 1].map(() => ({ session, stars: 1 + (n % 5) })))
  const made = await mapConcurrently(twice, 8, ({ session, stars }) => rate(tenant, id, session, stars))
  assert.equal(made.filter(Boolean).length, 30)
  const { rows } = await api.ctx.db.pool.query<{ sum: number }>(
    'select sum(stars)::int as sum from agent_ratings where agent_id = $1',
    [id],
  )
  const agent = await findAgent(api.ctx.db, tenant.id, id)
  assert.deepEqual([agent!.ratingSum, agent!.ratingCount], [rows[0]!.sum, 30])
  const { body } = await ratingsSeenBy(other, id)
  assert.deepEqual(body.data, { average: Math.round((rows[0]!.sum / 30) * 100) / 100, count: 30 })
})

test('ratings of another tenant’s agent are shown while it is active, and of an own one always', async () => {
  const id = await register(tenant, 'private')
  assert.deepEqual((await ratingsSeenBy(tenant, id)).body.data, { average: null, count: 0 })
  assert.equal((await ratingsSeenBy(other, id)).body.error.code, 'not_found')
  await setStatus(tenant, id, 'active')
  await rate(tenant, id, 'ses_x', 4)
  assert.deepEqual((await ratingsSeenBy(other, id)).body.data, { average: 4, count: 1 })
  await moderate(id, 'pending')
  assert.equal((await ratingsSeenBy(other, id)).body.error.code, 'not_found')
})
