import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeTenant, type Answer, type TestTenant } from './support/call-api.ts'
import { grantCoupon } from './support/credits.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { eventually } from './support/remote-agents.ts'
import { newRoom } from './support/sessions.ts'

const priceCredits = 5
const goodFor = 10
const launches = 100

let database: TestDatabase
let atrium: AtriumProcess
let tenant: TestTenant

before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true, args: ['--workers', '2'] })
  tenant = await makeTenant(atrium.origin)
  await fundIssuer(atrium.origin, tenant.secret, 1_000)
})

after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

async function makeAgent(): Promise<string> {
  const key = tenant.secret
  const manifest = { name: 'Echo', description: 'Echoes.', instructions: '', price_credits: priceCredits, max_minutes: 30 }
  const { data } = await askGood(atrium.origin, 'POST /agents', { key, body: manifest })
  await askGood(atrium.origin, `PUT /agents/${data.id}/status`, { key, body: { status: 'private' } })
  return data.id
}

/** The balance of the coupon, and the part of it that is held. */
async function lookUp(coupon: string): Promise<object> {
  const { data } = await askGood(atrium.origin, 'POST /v1/wallets/lookup', {
    key: tenant.publishable,
    body: { wallet_code: coupon },
  })
  return data
}

async function findings(): Promise<object[]> {
  return (await askGood(atrium.origin, 'GET /v1/operator/audit', { operator: true })).data.findings
}

/**
 * Launches as a client does: on a busy machine, a launch that waited too long for the coupon is answered 503 and repeated
 * with the same Idempotency-Key.
 */
async function launch(body: object): Promise<Answer> {
  const idempotencyKey = randomUUID()
  for (const endsAt = Date.now() + 120_000; ; await sleep(1_000)) {
    const options = { key: tenant.secret, idempotencyKey, body, timeoutMs: 60_000 }
    const answer = await call(atrium.origin, 'POST /v1/sessions', options)
    if (answer.status !== 503 || Date.now() > endsAt) return answer
  }
}

test('100 launches at once with a coupon that is good for 10: exactly 10 run, 90 are 402, and 10 prices are held, then paid', async () => {
  const { origin } = atrium
  const [agentId, coupon] = [await makeAgent(), await grantCoupon(origin, tenant.secret, goodFor * priceCredits)]
  const answers = await Promise.all(
    Array.from({ length: launches }, () => launch({ agent_id: agentId, room: newRoom(), coupon })),
  )
  const launched = answers.filter(({ status }) => status === 201)
  const refused = answers.filter(({ status, code }) => status === 402 && code === 'insufficient_credit')
  assert.deepEqual([launched.length, refused.length], [goodFor, launches - goodFor])
  assert.deepEqual(await lookUp(coupon), { balance: 0, held: goodFor * priceCredits, currency: 'credits' })
  assert.deepEqual(await findings(), [])

  const sessions = launched.map(({ data }) => data)
  for (const { id, control_token: key } of sessions) {
    const isRunning = async () => (await askGood(origin, `GET /sessions/${id}`, { key })).data.status === 'running'
    await eventually(isRunning, 'it runs', 20_000)
  }
  for (const { id, control_token: key } of sessions) await askGood(origin, `POST /sessions/${id}/stop`, { key })
  const charged = await Promise.all(
    sessions.map(
      async ({ id, control_token: key }) => (await askGood(origin, `GET /sessions/${id}`, { key })).data.charged_credits,
    ),
  )
  assert.deepEqual(charged, Array(goodFor).fill(priceCredits))
  const spent = await call(origin, 'POST /v1/wallets/lookup', { key: tenant.publishable, body: { wallet_code: coupon } })
  assert.equal(spent.status, 404, 'nothing is left under the code')
  assert.deepEqual(await findings(), [])
})
