import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { issuerAccount, platformAccount } from '#features/credits/ledger/movement.ts'
import { auditLedger } from '../credits/ledger/audit-store.ts'
import { transactionId } from '../credits/ledger/movement.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'

const body = { name: 'Agent', description: 'd', instructions: '', price_credits: 5, max_minutes: 30 }
const feeCredits = 30

let api: TestApi
before(async () => {
  api = await startTestApi({ agentFee: String(feeCredits) })
})
after(() => api.close())

async function tenantWith(amountCredits: number): Promise<TestTenant> {
  const tenant = await api.makeTenant()
  const movement = { type: 'transfer', kind: 'prefund', from: platformAccount, to: issuerAccount(tenant.id) } as const
  const id = transactionId('test-prefund', tenant.id)
  const post = () => api.ctx.db.transaction((tx) => postMovements(tx, [{ ...movement, id, amountCredits, actor: tenant.id }]))
  if (amountCredits > 0) assert.deepEqual(await post(), ['posted'])
  return tenant
}

async function left({ id }: TestTenant): Promise<{ balance: number; agents: number }> {
  const { rows } = await api.ctx.db.pool.query<{ balance: number; agents: number }>(
    `select coalesce((select balance from ledger_accounts where tenant_id = $1 and id = 'issuer'), 0)::int as balance,
       (select count(*)::int from agents where tenant_id = $1) as agents`,
    [id],
  )
  return rows[0]!
}

const register = ({ secretKey }: TestTenant, idempotencyKey?: string) =>
  send({ baseUrl: api.origin }, 'POST', '/agents', { key: secretKey, body, ...(idempotencyKey ? { idempotencyKey } : {}) })

test('a registration charges the fee to the tenant, and is refused when its balance is short', async () => {
  const tenant = await tenantWith(70)
  assert.equal((await register(tenant)).status, 201)
  assert.equal((await register(tenant)).status, 201)
  const refused = await register(tenant)
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'insufficient_credit'])
  assert.deepEqual(await left(tenant), { balance: 10, agents: 2 })
})

test('a tenant that never had credits cannot register', async () => {
  const tenant = await tenantWith(0)
  assert.equal((await register(tenant)).body.error.code, 'insufficient_credit')
  assert.deepEqual(await left(tenant), { balance: 0, agents: 0 })
})

test('a retried registration is charged once, and a refused one leaves its key free', async () => {
  const tenant = await tenantWith(feeCredits)
  const answers = await Promise.all(Array.from({ length: 5 }, () => untilServed(() => register(tenant, 'one'))))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(answers[0]!.status, 201)
  assert.equal((await register(tenant, 'two')).status, 402)
  assert.equal((await register(tenant, 'two')).headers.get('idempotency-status'), null)
  assert.deepEqual(await left(tenant), { balance: 0, agents: 1 })
})

test('of twenty concurrent registrations exactly those that the balance covers succeed', async () => {
  const tenant = await tenantWith(feeCredits * 7 + 1)
  const answers = await Promise.all(Array.from({ length: 20 }, () => untilServed(() => register(tenant))))
  assert.equal(answers.filter(({ status }) => status === 201).length, 7)
  assert.equal(answers.filter(({ status }) => status === 402).length, 13)
  assert.deepEqual(await left(tenant), { balance: 1, agents: 7 })
})

test('an agent that is refused for another reason costs nothing', async () => {
  const tenant = await tenantWith(feeCredits)
  const wrong = { ...body, endpoint: 'https://10.0.0.1/' }
  assert.equal((await send({ baseUrl: api.origin }, 'POST', '/agents', { key: tenant.secretKey, body: wrong })).status, 400)
  assert.deepEqual(await left(tenant), { balance: feeCredits, agents: 0 })
})

test('the ledger is consistent after all tests', async () => {
  assert.deepEqual((await auditLedger(api.ctx.db)).findings, [])
})
