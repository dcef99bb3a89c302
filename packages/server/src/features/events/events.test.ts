import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { eventSpecs } from '@atrium/contract/event-types'
import { Compile } from 'typebox/compile'
import { send } from '#testing/http.ts'
import { assertGapless, pullEvents, type PulledEvent } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { issuerAccount, platformAccount } from '#features/credits/ledger/movement.ts'
import { transactionId } from '../credits/ledger/movement.ts'
import { announceExpiringKeys } from '#features/keys/issue-key.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const pull = (tenant: TestTenant) => pullEvents(api, tenant)
const typesOf = (events: PulledEvent[]) => events.map(({ type }) => type)

async function makeCollection(of: TestTenant, body: object = {}) {
  const { data } = (await send(api, 'POST', '/collections', { key: of.secretKey, body })).body
  return { id: data.id as string, key: of.secretKey, collectionToken: data.admin_token as string }
}

test('every change has one event, in order, as the contract declares it, and without content', async () => {
  const tenant = await api.makeTenant()
  const secret = 'nobody-is-told-this'
  const { id, ...owner } = await makeCollection(tenant, { metadata: { secret } })
  const ask = async (method: string, path: string, body?: object) => {
    const got = await send(api, method, `/collections/${id}${path}`, { ...owner, ...(body ? { body } : {}) })
    assert.ok(got.status < 300, got.text)
    return got.body?.data
  }
  const first = await ask('POST', '/items', { type: 'message', content: { secret }, author: secret })
  const second = await ask('POST', '/items', { type: 'message', content: secret })
  await ask('PATCH', `/items/${first.id}`, { hero: true })
  await ask('PATCH', `/items/${second.id}`, { hero: true, access: 'email', grant: [`${secret}@example.com`] })
  await ask('DELETE', `/items/${first.id}`)
  const artifact = await ask('POST', '/artifacts', { kind: 'image', url: `https://pictures.example/${secret}`, title: secret })
  await ask('PATCH', `/artifacts/${artifact.id}`, { published: true })
  await ask('POST', '/state', { state: 'ready', app_state: { secret } })
  await ask('DELETE', '')
  const made = (await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'secret', name: secret } })).body
    .data
  await send(api, 'DELETE', `/tenant/keys/${made.id}`, { key: tenant.secretKey })
  for (const status of ['suspended', 'active']) {
    const headers = { 'x-admin-token': api.adminToken }
    await send(api, 'POST', `/tenants/${tenant.id}/status`, { headers, body: { status } })
  }

  const events = await pull(tenant)
  assertGapless(events)
  assert.deepEqual(typesOf(events), [
    'key.created',
    'key.created',
    'collection.created',
    'item.created',
    'item.created',
    'item.updated',
    'item.updated',
    'item.updated',
    'item.deleted',
    'artifact.ready',
    'artifact.published',
    'collection.state_changed',
    'collection.deleted',
    'key.created',
    'key.revoked',
    'tenant.status_changed',
    'tenant.status_changed',
  ])
  for (const event of events) {
    assert.equal(event.tenant_id, tenant.id)
    assert.ok(Compile(eventSpecs[event.type].data).Check(event.data), JSON.stringify(event))
    assert.deepEqual(Object.keys(event.data).toSorted(), Object.keys(eventSpecs[event.type].data.properties).toSorted())
  }
  const [, , , added, , heroFirst, former, heroSecond] = events.map(({ data }) => data)
  const item = { collection_id: id, type: 'message', approved: true, archived: false, hero: false, access: 'owner' }
  assert.deepEqual(added, { ...item, item_id: first.id })
  assert.deepEqual(heroFirst, { ...item, item_id: first.id, hero: true })
  assert.deepEqual(former, { ...item, item_id: first.id }, 'the former hero is told too')
  assert.deepEqual(heroSecond, { ...item, item_id: second.id, hero: true, access: 'email' })
  assert.deepEqual(events[11]!.data, { collection_id: id, state: 'ready', previous: 'open' })
  assert.deepEqual(events[16]!.data, { status: 'active', previous: 'suspended' })
  assert.doesNotMatch(JSON.stringify(events), new RegExp(secret))
})

test('a call that changes nothing has no event', async () => {
  const tenant = await api.makeTenant()
  const { id, ...owner } = await makeCollection(tenant)
  const item = (await send(api, 'POST', `/collections/${id}/items`, { ...owner, body: { type: 'a', content: 1 } })).body.data
  const patch = (body: object) => send(api, 'PATCH', `/collections/${id}/items/${item.id}`, { ...owner, body })
  const state = (body: object) => send(api, 'POST', `/collections/${id}/state`, { ...owner, body })
  for (const got of [await patch({ archived: true }), await patch({ archived: true }), await patch({ approved: true })])
    assert.equal(got.status, 200)
  for (const body of [{ state: 'open' }, { app_state: { a: 1 } }, { state: 'closed' }, { state: 'closed' }])
    assert.equal((await state(body)).status, 200)
  const made = (await send(api, 'POST', '/tenant/keys', { ...owner, body: { kind: 'secret' } })).body.data
  for (let i = 0; i < 2; i++) assert.equal((await send(api, 'DELETE', `/tenant/keys/${made.id}`, owner)).status, 204)
  const refused = await send(api, 'POST', `/collections/${id}/items`, { ...owner, body: { type: 'a', content: 1 } })
  assert.equal(refused.body.error.code, 'collection_not_open')
  const types = typesOf(await pull(tenant)).slice(3)
  assert.deepEqual(types, ['item.created', 'item.updated', 'collection.state_changed', 'key.created', 'key.revoked'])
})

test('a retried call has one event', async () => {
  const tenant = await api.makeTenant()
  const { id, ...owner } = await makeCollection(tenant)
  const body = { type: 'a', content: 1 }
  const add = () => send(api, 'POST', `/collections/${id}/items`, { ...owner, idempotencyKey: 'once', body })
  await Promise.all([add(), add(), add()])
  assert.deepEqual(typesOf(await pull(tenant)).slice(3), ['item.created'])
})

test('a redemption commits with its event, and a repeat has none', async () => {
  const tenant = await api.makeTenant()
  const licenseKey = newCredential('licenseKey')
  const id = transactionId('test', randomUUID())
  const base = { type: 'transfer' as const, actor: tenant.id }
  const to = issuerAccount(tenant.id)
  await api.ctx.ledger.add({ ...base, id, kind: 'prefund', from: platformAccount, to, amountCredits: 70 })
  await api.ctx.ledger.add({
    ...base,
    id: transactionId('test', randomUUID()),
    kind: 'sale',
    from: to,
    to: { tenantId: tenant.id, id: newAccountId() },
    amountCredits: 70,
    opens: { kind: 'license', codeHash: hashCredential(licenseKey) },
  })
  const redeem = () => send(api, 'POST', '/wallets/redeem', { key: tenant.publishableKey, body: { license_key: licenseKey } })
  const answers = await Promise.all([redeem(), redeem(), redeem()])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409])
  const told = (await pull(tenant)).filter(({ type }) => type === 'wallet.redeemed')
  assert.equal(told.length, 1)
  const { transaction_id: transaction, ...data } = told[0]!.data
  assert.deepEqual(data, { method: 'license_key', epoch: null, amount: 70 })
  const [row] = (await api.ctx.db.pool.query('select amount from ledger_transfers where id = $1', [transaction])).rows
  assert.equal(row?.['amount'], 70)
})

test('an expiring key has one event a week before and one a day before', async () => {
  const tenant = await api.makeTenant()
  const make = async (days: number) => {
    const expires_at = new Date(Date.now() + days * 86_400_000).toISOString()
    return (await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'publishable', expires_at } })).body
      .data
  }
  const [far, week, day, revoked] = [await make(8), await make(6), await make(0.5), await make(6)]
  await send(api, 'DELETE', `/tenant/keys/${revoked.id}`, { key: tenant.secretKey })
  const told = async () => {
    await Promise.all([announceExpiringKeys(api.ctx.db, 100), announceExpiringKeys(api.ctx.db, 100)])
    await announceExpiringKeys(api.ctx.db, 100)
    return (await pull(tenant)).filter(({ type }) => type === 'key.expiring').map(({ data }) => data)
  }
  const notice = ({ id, expires_at }: any) => ({ key_id: id, kind: 'publishable', expires_at })
  const first = await told()
  assert.deepEqual(
    new Set(first.map((data) => JSON.stringify(data))),
    new Set([week, day].map((key) => JSON.stringify(notice(key)))),
  )
  assert.equal(first.length, 2)
  await api.ctx.db.pool.query(`update api_keys set expires_at = now() + interval '23 hours' where id = $1`, [week.id])
  const second = (await told()).slice(2)
  assert.deepEqual(
    second.map(({ key_id: id }) => id),
    [week.id],
  )
  await api.ctx.db.pool.query(`update api_keys set expires_at = now() + interval '6 days' where id = $1`, [far.id])
  assert.deepEqual(
    (await told()).slice(3).map(({ key_id: id }) => id),
    [far.id],
  )
})
