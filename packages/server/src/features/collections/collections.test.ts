import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { untilBlocked } from '#testing/until-blocked.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

const make = async (body: object = {}) =>
  (await send(api, 'POST', '/collections', { key: tenant.publishableKey, body })).body.data

test('a new collection is open, empty and readable with the publishable key, without its app_state', async () => {
  const { id } = await make({ metadata: { b: 1, a: [null, { deep: 'ü' }] }, app_state: { secret: true } })
  const { status, body } = await send(api, 'GET', `/collections/${id}`, { key: tenant.publishableKey })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.data).toSorted(), [
    'contributor_policy',
    'created_at',
    'id',
    'item_access',
    'item_count',
    'metadata',
    'state',
    'wall',
  ])
  assert.deepEqual(body.data.metadata, { b: 1, a: [null, { deep: 'ü' }] })
  assert.equal(body.data.state, 'open')
  assert.equal(body.data.item_count, 0)
})

test('the owner token shows app_state', async () => {
  const { id, admin_token } = await make({ app_state: { round: 3 } })
  const { body } = await send(api, 'GET', `/collections/${id}`, { key: tenant.publishableKey, collectionToken: admin_token })
  assert.deepEqual(body.data.app_state, { round: 3 })
})

test('a state never goes back, and setting the current state changes nothing', async () => {
  const { id, admin_token } = await make()
  const move = (state: string) =>
    send(api, 'POST', `/collections/${id}/state`, { key: tenant.publishableKey, collectionToken: admin_token, body: { state } })
  assert.equal((await move('ready')).body.data.state, 'ready')
  assert.equal((await move('ready')).status, 200)
  const back = await move('open')
  assert.equal(back.status, 409)
  assert.equal(back.body.error.code, 'state_conflict')
  assert.equal((await move('closed')).body.data.state, 'closed')
})

test('state and app_state change together or not at all', async () => {
  const { id, admin_token } = await make({ app_state: { a: 1, b: { c: 2, d: 3 } } })
  const owner = { key: tenant.publishableKey, collectionToken: admin_token }
  await send(api, 'POST', `/collections/${id}/state`, { ...owner, body: { state: 'closed' } })
  const refused = await send(api, 'POST', `/collections/${id}/state`, { ...owner, body: { state: 'open', app_state: { a: 2 } } })
  assert.equal(refused.status, 409)
  const merged = await send(api, 'POST', `/collections/${id}/state`, {
    ...owner,
    body: { app_state: { a: null, b: { c: null, e: 4 } } },
  })
  assert.deepEqual(merged.body.data, { id, state: 'closed', app_state: { b: { d: 3, e: 4 } } })
})

test('changing the policy to token creates a token, which is then required to add items', async () => {
  const { id, admin_token } = await make()
  const item = { type: 'message', content: 'hi' }
  const patched = await send(api, 'PATCH', `/collections/${id}`, {
    key: tenant.publishableKey,
    collectionToken: admin_token,
    body: { contributor_policy: 'token', metadata: { theme: 'neon' } },
  })
  assert.equal(patched.headers.get('cache-control'), 'no-store')
  const refused = await send(api, 'POST', `/collections/${id}/items`, { key: tenant.publishableKey, body: item })
  assert.equal(refused.body.error.code, 'contributor_token_required')
  const added = await send(api, 'POST', `/collections/${id}/items`, {
    key: tenant.publishableKey,
    collectionToken: patched.body.data.contributor_token,
    body: item,
  })
  assert.equal(added.status, 201)
})

test('metadata over 16 KiB is refused, also when a patch makes it so', async () => {
  const big = { text: 'x'.repeat(10_000) }
  const created = await make({ metadata: big })
  const patched = await send(api, 'PATCH', `/collections/${created.id}`, {
    key: tenant.publishableKey,
    collectionToken: created.admin_token,
    body: { metadata: { more: 'y'.repeat(10_000) } },
  })
  assert.equal(patched.status, 400)
  assert.equal(patched.body.error.details[0].path, '/metadata')
})

test('nothing of a deleted collection is readable', async () => {
  const { id, admin_token } = await make()
  const owner = { key: tenant.publishableKey, collectionToken: admin_token }
  await send(api, 'POST', `/collections/${id}/items`, { ...owner, body: { type: 'm', content: 1 } })
  assert.equal((await send(api, 'DELETE', `/collections/${id}`, owner)).status, 204)
  for (const path of ['', '/items', '/artifacts'])
    assert.equal((await send(api, 'GET', `/collections/${id}${path}`, owner)).status, 404)
  assert.equal((await send(api, 'GET', `/collections/${id}/render`)).status, 404)
  const left = await api.ctx.db.pool.query('select count(*)::int as n from items where collection_id = $1', [id])
  assert.equal(left.rows[0]!.n, 0)
})

/** A collection on an API of its own, whose database lacks the foreign key that the next release drops. */
async function startWithoutForeignKey(t: TestContext) {
  const own = await startTestApi()
  t.after(() => own.close())
  const { secretKey: key } = await own.makeTenant()
  const { pool } = own.ctx.db
  await pool.query('alter table artifacts drop constraint artifacts_collection_exists')
  const { id, admin_token: collectionToken } = (await send(own, 'POST', '/collections', { key, body: {} })).body.data
  const body = { kind: 'image', url: 'https://pictures.example/a.png' }
  return {
    pool,
    add: () => send(own, 'POST', `/collections/${id}/artifacts`, { key, collectionToken, body }),
    remove: () => send(own, 'DELETE', `/collections/${id}`, { key, collectionToken }),
  }
}

test('a deletion includes artifacts, without a foreign key', async (t) => {
  const { pool, add, remove } = await startWithoutForeignKey(t)
  const countArtifacts = async () => (await pool.query('select from artifacts')).rowCount
  assert.equal((await add()).status, 201)
  assert.equal(await countArtifacts(), 1)

  assert.equal((await remove()).status, 204)
  assert.equal(await countArtifacts(), 0)
})

test('an artifact is not added to a collection whose deletion commits meanwhile, without a foreign key', async (t) => {
  const { pool, add } = await startWithoutForeignKey(t)
  const deletion = await pool.connect()
  try {
    await deletion.query('begin')
    await deletion.query('delete from collections')
    const added = add()
    await untilBlocked(pool)
    await deletion.query('commit')
    assert.equal((await added).status, 404)
  } finally {
    deletion.release()
  }
  assert.deepEqual((await pool.query('select from artifacts')).rowCount, 0)
})
