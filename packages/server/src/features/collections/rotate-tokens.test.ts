import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send, sendUntilServed } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

const make = async (body: object = { contributor_policy: 'token' }) =>
  (await send(api, 'POST', '/collections', { key: tenant.publishableKey, body })).body.data
const rotate = (id: string, names: string[], key = tenant.secretKey) =>
  sendUntilServed(api, 'POST', `/collections/${id}/tokens`, { key, body: { rotate: names } })
const asOwner = async (id: string, collectionToken: string) =>
  (await send(api, 'GET', `/collections/${id}/items`, { key: tenant.publishableKey, collectionToken })).status
const asContributor = async (id: string, collectionToken: string) =>
  (
    await send(api, 'POST', `/collections/${id}/items`, {
      key: tenant.publishableKey,
      collectionToken,
      body: { type: 'message', content: 1 },
    })
  ).status

test('new tokens open the collection, and the old ones nothing', async () => {
  const { id, admin_token, contributor_token } = await make()
  const { status, body, headers } = await rotate(id, ['admin_token', 'contributor_token'])
  assert.equal(status, 201)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.deepEqual(Object.keys(body.data).toSorted(), ['admin_token', 'contributor_token', 'id'])
  assert.deepEqual([await asOwner(id, admin_token), await asContributor(id, contributor_token)], [403, 403])
  assert.deepEqual([await asOwner(id, body.data.admin_token), await asContributor(id, body.data.contributor_token)], [200, 201])
})

test('one token is rotated without the other', async () => {
  const { id, admin_token, contributor_token } = await make()
  const first = (await rotate(id, ['admin_token'])).body.data
  assert.equal('contributor_token' in first, false)
  assert.deepEqual([await asOwner(id, admin_token), await asContributor(id, contributor_token)], [403, 201])
  const second = (await rotate(id, ['contributor_token'])).body.data
  assert.equal('admin_token' in second, false)
  assert.deepEqual([await asOwner(id, first.admin_token), await asContributor(id, contributor_token)], [200, 403])
})

test('of rotations at once the last one counts, and only its tokens', async () => {
  const { id } = await make()
  const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id, ['admin_token'])))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  const statuses = await Promise.all(answers.map(({ body }) => asOwner(id, body.data.admin_token)))
  assert.deepEqual(statuses.toSorted(), [200, 403, 403, 403, 403, 403, 403, 403])
})

test('what cannot be rotated is refused and changes nothing', async () => {
  const { id, admin_token } = await make({})
  const conflict = await rotate(id, ['admin_token', 'contributor_token'])
  assert.deepEqual([conflict.status, conflict.body.error.code], [409, 'state_conflict'])
  for (const names of [[], ['admin_token', 'admin_token'], ['key']]) assert.equal((await rotate(id, names)).status, 400)
  const other = await api.makeTenant()
  assert.equal((await rotate(id, ['admin_token'], other.secretKey)).body.error.code, 'not_found')
  assert.equal((await rotate(id, ['admin_token'], tenant.publishableKey)).body.error.code, 'secret_key_required')
  assert.equal(await asOwner(id, admin_token), 200)
})
