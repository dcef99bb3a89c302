import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { issuerAccount, platformAccount, revenueAccount, transactionId } from '../ledger/movement.ts'
import { findCodeAccount } from '../ledger/store.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const grant = async ({ secretKey: key }: TestTenant, body: object, idempotencyKey: string = randomUUID()) =>
  (await send(api, 'POST', '/wallets/grant', { key, idempotencyKey, body })).body.data
const list = ({ secretKey: key }: TestTenant, query = '') => send(api, 'GET', `/wallets/movements${query}`, { key })
const linesOf = async (tenant: TestTenant, query = '') =>
  (await list(tenant, query)).body.data.map(({ kind, from, to, amount, memo }: any) => [kind, from, to, amount, memo].join(' '))

async function fund({ id: tenantId }: TestTenant, amountCredits: number) {
  const id = transactionId('test', randomUUID())
  const to = issuerAccount(tenantId)
  await api.ctx.ledger.add({ type: 'transfer', id, kind: 'prefund', from: platformAccount, to, amountCredits, actor: tenantId })
}

async function makeWallet({ id: tenantId, publishableKey: key }: TestTenant, amountCredits: number): Promise<string> {
  const license = newCredential('licenseKey')
  const id = transactionId('test', license)
  const to = { tenantId, id: newAccountId() }
  const opens = { kind: 'license' as const, codeHash: hashCredential(license) }
  await api.ctx.ledger.add({
    type: 'transfer',
    id,
    kind: 'sale',
    from: platformAccount,
    to,
    amountCredits,
    actor: tenantId,
    opens,
  })
  const got = await send(api, 'POST', '/wallets/redeem', { key, body: { license_key: license } })
  return got.body.data.wallet_code
}

/** Pays the agent of another tenant: a hold, and its capture in part. */
async function spend(code: string, at: TestTenant, held: number, amountCredits: number) {
  const { account: from } = (await findCodeAccount(api.ctx.db, code))!
  const id = transactionId('test', randomUUID())
  const terms = { from, actor: at.id }
  const endsAt = new Date(Date.now() + 60_000).toISOString()
  await api.ctx.ledger.add({ type: 'hold', id, ...terms, amountCredits: held, endsAt, purpose: 'test' })
  const capture = { to: revenueAccount(at.id), amountCredits }
  await api.ctx.ledger.add({ type: 'hold_end', id, ...terms, outcome: 'captured', capture })
}

test('an issuer lists the movements of what it issued, and nobody can tell from it who spent what where', async () => {
  const [issuer, shop] = [await api.makeTenant('Issuer'), await api.makeTenant('Shop')]
  await fund(issuer, 100)
  const { coupon } = await grant(issuer, { amount: 10, memo: 'For Ada' })
  const wallet = await makeWallet(issuer, 50)
  const { coupon: second } = await grant(shop, { amount: 20, wallet_code: wallet, memo: 'of the shop' })
  await spend(coupon, shop, 5, 3)

  assert.deepEqual((await linesOf(issuer)).toSorted(), [
    'capture held revenue 3 ',
    'grant issuer coupon 10 For Ada',
    'grant wallet coupon 20 ',
    'hold coupon held 5 ',
    'prefund platform issuer 100 ',
    'redemption license wallet 50 ',
    'release held coupon 2 ',
    'sale platform license 50 ',
  ])
  assert.deepEqual(await linesOf(shop), ['grant wallet coupon 20 of the shop'], 'what it earned was issued by another')
  const { text } = await list(issuer)
  for (const secret of [coupon, second, wallet, shop.id, 'acc_']) assert.equal(text.includes(secret), false, secret)

  assert.deepEqual(await linesOf(issuer, '?kind=capture'), ['capture held revenue 3 '])
  assert.deepEqual(await linesOf(issuer, '?kind=fee'), [])
  assert.deepEqual(await linesOf(issuer, '?to=2001-01-01T00:00:00Z'), [])
  assert.equal((await linesOf(issuer, '?from=2001-01-01T00:00:00Z')).length, 8)
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const { data, meta } = (await list(issuer, `?limit=3${cursor}`)).body
    seen.push(...data.map((one: any) => one.id))
    if (!meta.next_cursor) break
    cursor = `&cursor=${meta.next_cursor}`
  }
  assert.deepEqual(
    seen,
    (await list(issuer)).body.data.map((one: any) => one.id),
  )
  const { next_cursor: cursor } = (await list(issuer, '?limit=1')).body.meta
  for (const [tenant, query] of [
    [shop, `?cursor=${cursor}`],
    [issuer, `?kind=grant&cursor=${cursor}`],
  ] as const)
    assert.equal((await list(tenant, query)).body.error.code, 'invalid_cursor', query)
  assert.equal((await list(issuer, '?kind=gift')).body.error.code, 'invalid_request')
})

test("the issuer's balance is what was prefunded, less what was granted", async () => {
  const [issuer, other] = [await api.makeTenant(), await api.makeTenant()]
  const balance = async ({ secretKey: key }: TestTenant) => (await send(api, 'GET', '/wallets/issuer', { key })).body.data
  assert.deepEqual(await balance(issuer), { balance: 0, currency: 'credits' })
  await fund(issuer, 100)
  await grant(issuer, { amount: 30 })
  await makeWallet(issuer, 50)
  assert.deepEqual(await balance(issuer), { balance: 70, currency: 'credits' })
  assert.deepEqual(await balance(other), { balance: 0, currency: 'credits' })
})

test('a tenant without the issuer role lists none', async () => {
  const { body } = await send(api, 'POST', '/tenants', {
    headers: { 'x-admin-token': api.adminToken },
    body: { name: 'App', roles: ['app'] },
  })
  const refused = await send(api, 'GET', '/wallets/movements', { key: body.data.secret_key })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'issuer_role_required'])
  const unread = await send(api, 'GET', '/wallets/issuer', { key: body.data.secret_key })
  assert.equal(unread.body.error.code, 'issuer_role_required')
})

test('a grant is one event, however often it is asked for, and one that is refused is none', async () => {
  const issuer = await api.makeTenant()
  await fund(issuer, 100)
  const key = randomUUID()
  const { coupon } = await grant(issuer, { amount: 10, memo: 'For Ada' }, key)
  assert.equal((await grant(issuer, { amount: 10, memo: 'For Ada' }, key)).coupon, coupon)
  await grant(issuer, { amount: 1_000 })
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  await grant(issuer, { amount: 4, wallet_code: coupon, expires_at: expiresAt })
  const events = (await pullEvents(api, issuer)).filter(({ type }) => type === 'coupon.granted')
  const ids = (await list(issuer, '?kind=grant')).body.data.map((one: any) => one.id)
  assert.deepEqual(
    events.map(({ data }) => data),
    [
      { transaction_id: ids[1], amount: 10, source: 'issuer', expires_at: null },
      { transaction_id: ids[0], amount: 4, source: 'coupon', expires_at: expiresAt },
    ],
  )
})
