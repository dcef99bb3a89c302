import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { announceExpiringKeys } from './issue-key.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
})
const fresh = async () => (tenant = await api.makeTenant())
after(() => api.close())

const create = (key: string, body: object) => send(api, 'POST', '/tenant/keys', { key, body })
const works = async (key: string) => (await send(api, 'GET', '/tenant', { key })).status === 200

test('a new key works at once, is shown once, and is listed by its hint', async () => {
  await fresh()
  const made = await create(tenant.secretKey, { kind: 'secret', name: 'ci' })
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  assert.equal(await works(made.body.data.key), true)
  const listed = await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })
  assert.equal(listed.body.data.length, 3)
  assert.equal(listed.text.includes(made.body.data.key), false)
  assert.equal(listed.body.data.at(-1).hint, `wsk_…${made.body.data.key.slice(-4)}`)
})

test('a key expires in a year that RFC 3339 can write, in UTC', async () => {
  await fresh()
  const refused = await create(tenant.secretKey, { kind: 'publishable', expires_at: '9999-12-31T23:59:59-14:00' })
  assert.equal(refused.status, 400)
  assert.deepEqual(refused.body.error.details, [{ path: '/expires_at', message: 'must be before the year 10000' }])
  const made = await create(tenant.secretKey, { kind: 'publishable', expires_at: '9999-12-31T23:59:59+14:00' })
  assert.equal(made.body.data.expires_at, '9999-12-31T09:59:59.000Z')
})

test('rotation without overlap ends the old key at once', async () => {
  await fresh()
  const { data } = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body
  const secret = data.find((key: any) => key.kind === 'secret')
  const made = await create(tenant.secretKey, { kind: 'secret', rotates: secret.id })
  assert.equal(await works(made.body.data.key), true)
  await until(async () => !(await works(tenant.secretKey)))
})

test('rotation with overlap leaves both keys working, and gives the old one an expiry', async () => {
  await fresh()
  const first = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data.find(
    (key: any) => key.kind === 'secret',
  )
  const made = await create(tenant.secretKey, { kind: 'secret', rotates: first.id, overlap_seconds: 60 })
  assert.equal((await works(made.body.data.key)) && (await works(tenant.secretKey)), true)
  const again = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data.find(
    (key: any) => key.id === first.id,
  )
  assert.deepEqual([first.replaced_by, again.replaced_by, made.body.data.replaced_by], [null, made.body.data.id, null])
  const leftMs = Date.parse(again.expires_at) - Date.now()
  assert.ok(leftMs > 55_000 && leftMs <= 60_500, String(leftMs))
})

test('of two rotations of a key, the first successor stays recorded while it or its own successor is valid', async () => {
  await fresh()
  const read = async (id: string) =>
    (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data.find((key: any) => key.id === id)
  const rotate = async (id: string) => {
    const made = await create(tenant.secretKey, { kind: 'publishable', rotates: id, overlap_seconds: 600 })
    assert.equal(made.status, 201, made.text)
    return made.body.data.id as string
  }
  const revoke = (id: string) => send(api, 'DELETE', `/tenant/keys/${id}`, { key: tenant.secretKey })
  const old = (await create(tenant.secretKey, { kind: 'publishable' })).body.data.id
  const atOnce = await Promise.all([rotate(old), rotate(old), rotate(old)])
  const first = (await read(old)).replaced_by
  assert.ok(atOnce.includes(first))
  const later = await rotate(old)
  assert.equal((await read(old)).replaced_by, first)
  await revoke(later)
  assert.equal((await read(old)).replaced_by, first)
  const next = await rotate(first)
  await revoke(first)
  await rotate(old)
  assert.equal((await read(old)).replaced_by, first)
  await revoke(next)
  const last = await rotate(old)
  assert.equal((await read(old)).replaced_by, last)
})

test('the end of a key is announced only while no key that followed it by rotation is valid', async () => {
  await fresh()
  const day = 86_400
  const rotate = async (rotates: string, body: object = {}) => {
    const made = await create(tenant.secretKey, { kind: 'publishable', rotates, overlap_seconds: 3 * day, ...body })
    assert.equal(made.status, 201, made.text)
    return made.body.data.id as string
  }
  const announced = async () => {
    await announceExpiringKeys(api.ctx.db, 100)
    const events = await pullEvents(api, tenant)
    return events.filter(({ type }) => type === 'key.expiring').map(({ data }) => data['key_id'])
  }
  const expires_at = new Date(Date.now() + 2 * day * 1_000).toISOString()
  const old = (await create(tenant.secretKey, { kind: 'publishable' })).body.data.id
  const next = await rotate(old)
  const last = await rotate(next)
  const alone = (await create(tenant.secretKey, { kind: 'publishable', expires_at })).body.data.id
  assert.deepEqual(await announced(), [alone])
  // The key `next` ends now without a valid replacement. The key `old` still has `next` as its replacement.
  assert.equal((await send(api, 'DELETE', `/tenant/keys/${last}`, { key: tenant.secretKey })).status, 204)
  assert.deepEqual((await announced()).slice(1), [next])
  const short = await rotate((await create(tenant.secretKey, { kind: 'publishable' })).body.data.id, { expires_at })
  // The replacement itself is about to end: it is announced, and the one that it replaces is not.
  assert.deepEqual((await announced()).slice(2), [short])
})

test('a key is rotated by one of its kind, and only if it is active and of the same tenant', async () => {
  const other = await fresh()
  const otherKeys = (await send(api, 'GET', '/tenant/keys', { key: other.secretKey })).body.data
  await fresh()
  const mine = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data
  const publishable = mine.find((key: any) => key.kind === 'publishable')
  assert.equal((await create(tenant.secretKey, { kind: 'secret', rotates: publishable.id })).body.error.code, 'invalid_request')
  assert.equal((await create(tenant.secretKey, { kind: 'secret', rotates: otherKeys[0].id })).body.error.code, 'not_found')
  assert.equal((await create(tenant.secretKey, { kind: 'secret', overlap_seconds: 5 })).body.error.code, 'invalid_request')
  assert.equal(
    (await create(tenant.secretKey, { kind: 'secret', expires_at: '2020-01-01T00:00:00Z' })).body.error.code,
    'invalid_request',
  )
})

test('the last active secret key cannot be revoked, also not by two concurrent requests', async () => {
  await fresh()
  const second = (await create(tenant.secretKey, { kind: 'secret' })).body.data
  const keys = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data.filter(
    (key: any) => key.kind === 'secret',
  )
  const revoke = (id: string, key: string) => send(api, 'DELETE', `/tenant/keys/${id}`, { key })
  const answers = await Promise.all(keys.map((key: any) => revoke(key.id, key.id === second.id ? tenant.secretKey : second.key)))
  const codes = answers.map(({ status, body }) => (status === 204 ? 'gone' : body.error.code)).toSorted()
  assert.ok(
    codes.includes('gone') && codes.length === 2 && codes.some((code) => code === 'last_secret_key' || code === 'unauthorized'),
    codes.join(),
  )
  const countWorking = async () => (await Promise.all([works(tenant.secretKey), works(second.key)])).filter(Boolean).length
  // Within a second the one that was revoked is refused; the other one still works.
  await until(async () => (await countWorking()) === 1)
})

test('a revoked key is refused within a second, and revoking it again is a no-op', async () => {
  await fresh()
  const made = (await create(tenant.secretKey, { kind: 'publishable' })).body.data
  const path = `/tenant/keys/${made.id}`
  assert.equal((await send(api, 'POST', '/collections', { key: made.key, body: {} })).status, 201)
  assert.equal((await send(api, 'DELETE', path, { key: tenant.secretKey })).status, 204)
  await until(async () => (await send(api, 'POST', '/collections', { key: made.key, body: {} })).status === 401)
  assert.equal((await send(api, 'DELETE', path, { key: tenant.secretKey })).status, 204)
})

const setClock = (t: TestContext, aheadMinutes: number) =>
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMinutes * 60_000 })

test('a process whose clock is behind refuses keys that were revoked or rotated, and keeps the last secret key', async (t) => {
  await fresh()
  const first = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data.find(
    (key: any) => key.kind === 'secret',
  )
  const leaked = (await create(tenant.secretKey, { kind: 'secret' })).body.data
  assert.equal(await works(leaked.key), true)
  setClock(t, -10)
  assert.equal((await send(api, 'DELETE', `/tenant/keys/${leaked.id}`, { key: tenant.secretKey })).status, 204)
  await until(async () => !(await works(leaked.key)))
  const last = (await create(tenant.secretKey, { kind: 'secret', rotates: first.id })).body.data
  await until(async () => !(await works(tenant.secretKey)))
  const refused = await send(api, 'DELETE', `/tenant/keys/${last.id}`, { key: last.key })
  assert.deepEqual([refused.status, refused.body.error?.code], [409, 'last_secret_key'])
})

test('a process whose clock is ahead accepts a key until it ends', async (t) => {
  await fresh()
  const listed = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data
  const { id: rotates } = listed.find((key: any) => key.kind === 'secret')
  setClock(t, 10)
  await create(tenant.secretKey, { kind: 'secret', rotates, overlap_seconds: 60 })
  api.ctx.keyCache.forgetAll()
  assert.equal(await works(tenant.secretKey), true)
})

test('last_used_at is recorded', async () => {
  await fresh()
  await works(tenant.secretKey)
  await api.ctx.keyUse.flush()
  const { data } = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body
  assert.ok(Math.abs(Date.now() - Date.parse(data.find((key: any) => key.kind === 'secret').last_used_at)) < 10_000)
})

test('the pages of keys have each key once, those first that end last, and each page the oldest first', async () => {
  await fresh()
  const { secretKey: key } = tenant
  const make = async (body: object) => (await create(key, { kind: 'publishable', ...body })).body.data.id as string
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const revoked = await make({})
  await send(api, 'DELETE', `/tenant/keys/${revoked}`, { key })
  const [soon, late] = [await make({ expires_at: inHours(1) }), await make({ expires_at: inHours(2) })]
  const never = await make({ expires_at: '9999-12-31T23:59:59.999Z' })
  const list = (query: string) => send(api, 'GET', `/tenant/keys${query}`, { key })
  const all = await list('')
  assert.deepEqual(
    all.body.data.slice(2).map(({ id }: any) => id),
    [revoked, soon, late, never],
  )
  assert.equal(all.body.meta.next_cursor, undefined)
  const pages: string[][] = []
  for (let cursor = ''; ;) {
    const { body } = await list(`?limit=2${cursor && `&cursor=${cursor}`}`)
    pages.push(body.data.map(({ id }: any) => id))
    cursor = body.meta?.next_cursor ?? ''
    if (cursor === '') break
  }
  assert.deepEqual(pages.slice(2), [[revoked, soon]])
  assert.equal(pages[1]?.includes(late), true)
  assert.deepEqual(pages.flat().toSorted(), all.body.data.map(({ id }: any) => id).toSorted())
  const place = new Map<string, number>(all.body.data.map(({ id }: any, index: number) => [id, index]))
  for (const [first = '', second = ''] of pages) assert.ok((place.get(first) ?? 0) < (place.get(second) ?? 0))
})

test('the list of keys rejects a cursor of another tenant, and a page of more than 200', async () => {
  await fresh()
  const { body } = await send(api, 'GET', '/tenant/keys?limit=1', { key: tenant.secretKey })
  await fresh()
  const path = `/tenant/keys?cursor=${body.meta.next_cursor}`
  const other = await send(api, 'GET', path, { key: tenant.secretKey })
  assert.deepEqual([other.status, other.body.error.code], [400, 'invalid_cursor'])
  const many = await send(api, 'GET', '/tenant/keys?limit=201', { key: tenant.secretKey })
  assert.deepEqual([many.status, many.body.error.code], [400, 'invalid_request'])
})

/** Notifications take a moment; without them it would take 15 seconds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await holds())) assert.ok(performance.now() < deadline, 'did not come to hold within ten seconds')
}
