import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { send, type Got } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
let other: TestTenant
before(async () => {
  api = await startTestApi()
  ;[tenant, other] = await Promise.all([api.makeTenant(), api.makeTenant()])
})
after(() => api.close())

interface Asked {
  key?: string
  collectionToken?: string
  idempotencyKey: string
  operation: string
  path: string
  body?: unknown
}

function lookUp({ key = tenant.publishableKey, collectionToken, idempotencyKey, operation, path, body }: Asked): Promise<Got> {
  const sha256 = hash('sha256', body === undefined ? '' : JSON.stringify(body))
  return send(api, 'POST', '/outcomes/lookup', {
    key,
    ...(collectionToken ? { collectionToken } : {}),
    body: { idempotency_key: idempotencyKey, operation, path, body_sha256: sha256 },
  })
}

const stateOf = async (asked: Asked) => (await lookUp(asked)).body.data.state

const body = { metadata: { share_title: 'Once' } }
const createOnce = async () => {
  const asked = { idempotencyKey: randomUUID(), operation: 'createCollection', path: '/v1/collections', body }
  const { idempotencyKey } = asked
  return { asked, made: await send(api, 'POST', '/collections', { key: tenant.publishableKey, idempotencyKey, body }) }
}

test('the stored answer comes back with its status, body and expiry, as often as it is asked for', async () => {
  const { asked, made } = await createOnce()
  for (let i = 0; i < 2; i++) {
    const { status, headers, body: found } = await lookUp(asked)
    assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store'])
    assert.deepEqual(found.data, {
      state: 'done',
      status: 201,
      answer: made.body,
      expires_at: made.headers.get('idempotency-expires'),
    })
  }
})

test('a path is the same path however its letters are encoded, so a key adds once', async () => {
  const { publishableKey: key } = tenant
  const { id } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  const item = { type: 'message', content: 'Once' }
  const idempotencyKey = randomUUID()
  const encoded = `/collections/%63${id.slice(1)}/items`
  const added = await Promise.all(
    [`/collections/${id}/items`, encoded, `/collections/${id}/ite%6ds`].map((path) =>
      send(api, 'POST', path, { key, idempotencyKey, body: item }),
    ),
  )
  const ids = new Set(added.map(({ body: made }) => made.data.id))
  assert.deepEqual([ids.size, added.map(({ status }) => status)], [1, [201, 201, 201]])
  for (const path of [`/v1/collections/${id}/items`, `/v1${encoded}`])
    assert.equal(await stateOf({ idempotencyKey, operation: 'addItem', path, body: item }), 'done', path)
})

test('another body, key, path, operation or tenant is a request that never was', async () => {
  const { asked } = await createOnce()
  const changes: Partial<Asked>[] = [
    { body: { metadata: { share_title: 'Twice' } } },
    { body: undefined },
    { idempotencyKey: randomUUID() },
    { operation: 'createCheckout', path: '/v1/checkout', key: tenant.secretKey },
    { key: other.publishableKey },
  ]
  for (const change of changes) {
    const { text } = await lookUp({ ...asked, ...change })
    assert.equal(text, '{"data":{"state":"none"}}', JSON.stringify(change))
  }
})

test('a request that failed has no record, and asking leaves none', async () => {
  const asked = { idempotencyKey: randomUUID(), operation: 'createCollection', path: '/v1/collections' }
  const [key, idempotencyKey] = [tenant.publishableKey, asked.idempotencyKey]
  const refused = await send(api, 'POST', '/collections', { key, idempotencyKey, body: { metdata: {} } })
  assert.equal(refused.status, 400)
  assert.equal(await stateOf({ ...asked, body: { metdata: {} } }), 'none')
  const made = await send(api, 'POST', '/collections', { key, idempotencyKey, body })
  assert.deepEqual([made.status, made.headers.get('idempotency-status')], [201, 'stored'])
})

test('a publishable key asks for nothing that only a secret key may call', async () => {
  const keyBody = { kind: 'publishable' }
  const idempotencyKey = randomUUID()
  const made = await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, idempotencyKey, body: keyBody })
  const asked = { idempotencyKey, operation: 'createKey', path: '/v1/tenant/keys', body: keyBody }
  assert.equal((await lookUp(asked)).body.error.code, 'secret_key_required')
  const found = (await lookUp({ ...asked, key: tenant.secretKey })).body.data
  assert.equal(found.answer.data.key, made.body.data.key)
})

test('the token of the collection is asked for, as the operation does', async () => {
  const made = (await createOnce()).made.body.data
  const collectionToken = made.admin_token
  const path = `/collections/${made.id}/artifacts/upload`
  const upload = { kind: 'image', mime: 'image/png', bytes: 100 }
  const idempotencyKey = randomUUID()
  const key = tenant.publishableKey
  await send(api, 'POST', path, { key, collectionToken, idempotencyKey, body: upload })
  const asked = { idempotencyKey, operation: 'uploadArtifact', path: `/v1${path}`, body: upload }
  assert.equal((await lookUp(asked)).body.error.code, 'owner_token_required')
  assert.equal((await lookUp({ ...asked, key: other.publishableKey, collectionToken })).body.error.code, 'not_found')
  assert.equal(await stateOf({ ...asked, collectionToken }), 'done')
  // Afterwards the token that the request had still proves who sent it, and no other does.
  await send(api, 'DELETE', `/collections/${made.id}`, { key, collectionToken })
  assert.equal(await stateOf({ ...asked, collectionToken }), 'done')
  assert.equal((await lookUp(asked)).body.error.code, 'not_found')
  assert.equal((await lookUp({ ...asked, collectionToken, body: {} })).body.error.code, 'not_found')
})

test('a request that runs is in progress, and only for the same body', async () => {
  const { id } = (await createOnce()).made.body.data
  const path = `/collections/${id}/items`
  const item = { type: 'message', content: 'slow' }
  const asked = { idempotencyKey: randomUUID(), operation: 'addItem', path: `/v1${path}`, body: item }
  const lock = await api.ctx.db.pool.connect()
  let adding: Promise<Got>
  try {
    await lock.query('begin')
    await lock.query('select 1 from collections where id = $1 for update', [id])
    adding = send(api, 'POST', path, { key: tenant.publishableKey, idempotencyKey: asked.idempotencyKey, body: item })
    for (let i = 0; i < 100 && (await stateOf(asked)) === 'none'; i++) await delay(10)
    assert.equal(await stateOf(asked), 'in_progress')
    assert.equal(await stateOf({ ...asked, body: { ...item, content: 'other' } }), 'none')
  } finally {
    await lock.query('rollback')
    lock.release()
  }
  const { text } = await adding
  assert.deepEqual((await lookUp(asked)).body.data.answer, JSON.parse(text))
})

test('an operation without an Idempotency-Key, or the path of another one, is refused with what to send', async () => {
  const asked = { idempotencyKey: randomUUID(), operation: 'createCollection', path: '/v1/collections' }
  for (const [change, field] of [
    [{ operation: 'redeemWallet' }, '/operation'],
    [{ operation: 'createTenant', path: '/v1/tenants' }, '/operation'],
    [{ operation: 'constructor' }, '/operation'],
    // Only a session of the console calls it.
    [{ operation: 'createMember', path: '/v1/tenant/members', key: tenant.secretKey }, '/operation'],
    [{ path: '/v1/collections/x' }, '/path'],
    [{ path: '/v1/collections?limit=1' }, '/path'],
    [{ path: '/collections' }, '/path'],
  ] as const) {
    const { status, body: refusal } = await lookUp({ ...asked, ...change })
    assert.deepEqual([status, refusal.error.details[0].path], [400, field], JSON.stringify(change))
  }
})
