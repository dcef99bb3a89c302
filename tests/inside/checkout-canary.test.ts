import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  startFakeStripe,
  stripeEvent,
  stripeSecretKey,
  stripeSignature,
  stripeWebhookSecret,
} from '../../packages/server/testing/fake-stripe.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeTenant } from '../support/call-api.ts'
import { formsFound } from '../support/find-secrets.ts'
import { dumpTables } from '../support/query-database.ts'

let database: TestDatabase
let stripe: Awaited<ReturnType<typeof startFakeStripe>>
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  stripe = await startFakeStripe()
  atrium = await startAtrium({
    databaseUrl: database.url,
    // Several processes, because the secrets go through a channel to each.
    args: ['--workers', '2'],
    env: {
      ATRIUM_LOG: 'debug',
      STRIPE_SECRET_KEY: stripeSecretKey,
      STRIPE_WEBHOOK_SECRET: stripeWebhookSecret,
      ATRIUM_STRIPE_API: stripe.url,
    },
  })
})
after(async () => {
  await atrium?.end('SIGKILL')
  stripe.close()
  await database.drop()
})

test('a license key and the Stripe secrets come up in no table and no log line: not raw, not in hex, not in base64', async () => {
  const { secret } = await makeTenant(atrium.origin)
  const body = { purpose: 'license_key', credits: 60, success_url: 'https://shop.example/', cancel_url: 'https://shop.example/' }
  const { data } = await call(atrium.origin, 'POST /v1/checkout', { key: secret, body, idempotencyKey: 'order 1' })
  const paid = stripeEvent('checkout.session.completed', stripe.sessions[0]!, { payment_status: 'paid' })
  const headers = { 'content-type': 'application/json', 'stripe-signature': stripeSignature(paid) }
  const deliver = (text: string) => fetch(`${atrium.origin}/stripe/webhook`, { method: 'POST', headers, body: text })
  assert.equal((await deliver(paid)).status, 200)
  assert.equal((await deliver(`${paid} `)).status, 400)

  const whilePaid = await dumpTables(database.url)
  const shown = await call(atrium.origin, `GET /v1/checkout/${data.id}`, { key: secret })
  const license = (shown.data as unknown as { license_key: string }).license_key
  assert.match(license, /^lic_/)
  stripe.mishaps.push({ status: 401, error: { message: `Invalid API Key provided: ${stripeSecretKey}` } })
  assert.equal((await call(atrium.origin, 'POST /v1/checkout', { key: secret, body })).status, 503)

  const places = { 'tables before': whilePaid, tables: await dumpTables(database.url), log: atrium.output() }
  assert.ok(formsFound(places.tables, data.id).length > 0, 'the dump contains values that are not secret')
  assert.match(places.log, /no payment was made/)
  const found: string[] = []
  for (const [place, text] of Object.entries(places)) {
    for (const value of [license, stripeSecretKey, stripeWebhookSecret]) {
      for (const form of formsFound(text, value)) found.push(`${value.slice(0, 6)} in ${place}, ${form}`)
    }
  }
  assert.deepEqual(found, [])
})
