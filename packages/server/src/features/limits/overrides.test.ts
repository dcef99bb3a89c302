import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { LimitName } from '@atrium/contract/limit-names'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { send, type Got } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { clearOf } from '../../../../../tests/support/clear-of.ts'

interface Place {
  id: string
  key: string
  token: string
}

let world: SessionWorld
let agentId: string
let coupon: string
before(async () => {
  world = await startSessionWorld({ runner: false })
  agentId = await world.makeAgent({ price_credits: 0 })
  coupon = await world.makeCoupon(1_000)
})
after(() => world.close())

const override = async (api: TestApi, tenant: TestTenant, body: object) => {
  const headers = { 'x-admin-token': api.adminToken }
  const set = await send(api, 'PUT', `/tenants/${tenant.id}/limits`, { headers, body })
  assert.equal(set.status, 200, set.text)
  return set.body.data
}

async function makePlace({ secretKey: key }: TestTenant): Promise<Place> {
  const { data } = (await send(world.api, 'POST', '/collections', { key, body: {} })).body
  return { id: data.id, key, token: data.admin_token }
}

const post = ({ id, key, token }: Place, path: string, body: object) => {
  const options = { key, collectionToken: token, idempotencyKey: randomUUID(), body }
  return send(world.api, 'POST', `/collections/${id}/${path}`, options)
}
const announce = (place: Place) => post(place, 'artifacts/upload', { kind: 'image', mime: 'image/png', bytes: 100 })
const launch = (more: object) => (_: Place, tenant: TestTenant) => {
  const body = { agent_id: agentId, room: world.newRoom(), coupon, ...more }
  return send(world.api, 'POST', '/sessions', { key: tenant.secretKey, idempotencyKey: randomUUID(), body })
}

interface Case {
  limit: LimitName
  /** What one use counts. */
  each: number
  use: (place: Place, tenant: TestTenant) => Promise<Got>
  /** What the refusal says with this limit. */
  message: (limit: number) => string
}

const cases: Case[] = [
  {
    limit: 'active_sessions',
    each: 1,
    use: launch({}),
    message: (n) => `This tenant has ${n} sessions launching or running`,
  },
  {
    limit: 'pending_launches',
    each: 1,
    use: launch({ arm: true }),
    message: (n) => `This tenant has ${n} pending launches`,
  },
  {
    limit: 'active_generations',
    each: 1,
    use: (place) => post(place, 'produce', { kind: 'card' }),
    message: (n) => `This tenant has ${n} artifacts waiting`,
  },
  { limit: 'open_uploads', each: 1, use: announce, message: (n) => `Your account has ${n} open uploads` },
  {
    limit: 'open_upload_bytes',
    each: 100,
    use: announce,
    message: (n) => `your account would exceed ${n} bytes of open uploads`,
  },
  {
    limit: 'open_uploads_in_collection',
    each: 1,
    use: announce,
    message: (n) => `This collection has ${n} open uploads`,
  },
]

/** Lowers the default until the test ends, so that the default is reached quickly too. */
function lowerDefault(t: TestContext, limit: LimitName, value: number): void {
  const { limits } = world.api.ctx.config
  const before = limits[limit]
  limits[limit] = value
  t.after(() => {
    limits[limit] = before
  })
}

for (const { limit, each, use, message } of cases) {
  test(`${limit}: an override below and above the default holds from the next request on, and without one the default does`, async (t) => {
    lowerDefault(t, limit, 2 * each)
    const tenant = await world.api.makeTenant()
    const place = await makePlace(tenant)
    const assertUses = async (count: number, most: number) => {
      for (let i = 0; i < count; i++) {
        const used = await use(place, tenant)
        assert.ok(used.status === 201 || used.status === 202, used.text)
      }
      const refused = await use(place, tenant)
      assert.deepEqual([refused.status, refused.body.error?.code], [429, 'rate_limited'], refused.text)
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
      assert.ok(refused.body.error.message.includes(message(most * each)), refused.body.error.message)
    }
    const view = await override(world.api, tenant, { [limit]: each })
    assert.deepEqual([view.limits[limit], view.overrides], [each, { [limit]: each }])
    await assertUses(1, 1)
    await override(world.api, tenant, { [limit]: 3 * each })
    await assertUses(2, 3)
    assert.equal((await override(world.api, tenant, {})).limits[limit], 2 * each)
    await assertUses(0, 2)
  })
}

test('paints_per_month: an override below and above the default holds from the next paint on', async (t) => {
  await clearOf('day')
  lowerDefault(t, 'paints_per_month', 2)
  const tenant = await world.api.makeTenant()
  const place = await makePlace(tenant)
  const paint = async () => {
    const { id } = (await post(place, 'paint', { prompt: 'a lamp' })).body.data
    const { key, token: collectionToken } = place
    return (await send(world.api, 'GET', `/collections/${place.id}/artifacts/${id}`, { key, collectionToken })).body.data.status
  }
  await override(world.api, tenant, { paints_per_month: 1 })
  assert.deepEqual([await paint(), await paint()], ['painting', 'quota_exceeded'])
  await override(world.api, tenant, { paints_per_month: 3 })
  assert.deepEqual([await paint(), await paint(), await paint()], ['painting', 'painting', 'quota_exceeded'])
  assert.equal((await override(world.api, tenant, {})).limits.paints_per_month, 2)
  assert.equal(await paint(), 'quota_exceeded')
})

describe('rate_percent', () => {
  let api: TestApi
  before(async () => {
    api = await startTestApi({ rateLimit: '1' })
  })
  after(() => api.close())

  test('is the share of each rate of a tenant’s keys soon, and of no other tenant’s', async () => {
    const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
    const policyOf = async (key: string) =>
      (await send(api, 'GET', '/collections/unknown', { key })).headers.get('ratelimit-policy')?.replace(/;w=.*/, '')
    const eventuallyPolicy = async (key: string, policy: string) => {
      // Without the notification, it could take 15 seconds.
      await eventually(async () => (await policyOf(key)) === policy, policy, 10_000)
    }
    const { secretKey, publishableKey } = tenant
    assert.equal(await policyOf(secretKey), '"secret-key";q=400')
    await override(api, tenant, { rate_percent: 10 })
    await eventuallyPolicy(secretKey, '"secret-key";q=40')
    assert.equal(await policyOf(publishableKey), '"publishable-key";q=10')
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => send(api, 'GET', '/collections/unknown', { key: publishableKey })),
    )
    const refused = answers.filter(({ status }) => status === 429)
    assert.ok(refused.length >= 15, `${refused.length} of 30 above a burst of 10`)
    assert.equal(await policyOf(other.secretKey), '"secret-key";q=400')
    await override(api, tenant, { rate_percent: 250 })
    await eventuallyPolicy(publishableKey, '"publishable-key";q=250')
    await override(api, tenant, {})
    await eventuallyPolicy(publishableKey, '"publishable-key";q=100')
  })
})

test('a value out of its bounds is refused with the path and the bound', async () => {
  const { api } = world
  const tenant = await api.makeTenant()
  const headers = { 'x-admin-token': api.adminToken }
  const put = (body: object) => send(api, 'PUT', `/tenants/${tenant.id}/limits`, { headers, body })
  const bad: [LimitName, unknown, RegExp][] = [
    ['rate_percent', 0, /1/],
    ['rate_percent', 100_001, /100000/],
    ['active_sessions', -1, /0/],
    ['open_uploads', 1.5, /integer/],
    ['paints_per_month', 2 ** 53, /9007199254740991|integer/],
  ]
  for (const [limit, value, message] of bad) {
    const { body, text } = await put({ [limit]: value })
    assert.equal(body.error.code, 'invalid_request', text)
    assert.equal(body.error.details[0].path, `/${limit}`)
    assert.match(body.error.details[0].message, message)
  }
  assert.deepEqual((await send(api, 'GET', `/tenants/${tenant.id}/limits`, { headers })).body.data.overrides, {})
})

test('each change is in the audit log with the tenant', async () => {
  const { api } = world
  const tenant = await api.makeTenant()
  await override(api, tenant, { rate_percent: 50, active_sessions: 7 })
  const headers = { 'x-admin-token': api.adminToken }
  const [entry] = (await send(api, 'GET', `/operator/audit-log?tenant_id=${tenant.id}`, { headers })).body.data
  assert.deepEqual([entry.operation, entry.outcome, entry.actor.kind], ['setTenantLimits', 'done', 'operator'])
})
