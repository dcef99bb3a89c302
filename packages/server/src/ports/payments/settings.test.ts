import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets, readStripeSecrets } from '#config/secrets.ts'
import { StartError } from '#errors/start-error.ts'
import { openPayments } from './open-payments.ts'

const keys = { STRIPE_SECRET_KEY: 'sk_test_hushhush', STRIPE_WEBHOOK_SECRET: 'whsec_hushhush' }
const says = (run: () => unknown, text: RegExp) =>
  assert.throws(run, (error) => error instanceof StartError && text.test(error.message) && !/hush|elsewhere/.test(error.message))

test('a Stripe key and its webhook secret come together or not at all, and a wrong one is named and not echoed', () => {
  const read = (env: Record<string, string>) => readStripeSecrets(readEnv(env))
  assert.equal(read({}), undefined)
  assert.deepEqual(read(keys), { secretKey: 'sk_test_hushhush', webhookSecret: 'whsec_hushhush' })
  says(() => read({ STRIPE_SECRET_KEY: keys.STRIPE_SECRET_KEY }), /^STRIPE_WEBHOOK_SECRET must be set when/)
  says(() => read({ STRIPE_WEBHOOK_SECRET: keys.STRIPE_WEBHOOK_SECRET }), /^STRIPE_SECRET_KEY must be set when/)
  says(() => read({ ...keys, STRIPE_SECRET_KEY: 'pk_test_hushhush' }), /^STRIPE_SECRET_KEY must start/)
  says(() => read({ ...keys, STRIPE_SECRET_KEY: 'sk_test_hush hush' }), /^STRIPE_SECRET_KEY must/)
  says(() => read({ ...keys, STRIPE_WEBHOOK_SECRET: 'hushhush' }), /^STRIPE_WEBHOOK_SECRET must start/)
})

test('the start reads them, and they are not in the configuration that is passed around', async () => {
  const env = readEnv({ ...keys, ATRIUM_ADMIN_TOKEN: 'x'.repeat(16), ATRIUM_MASTER_KEY: Buffer.alloc(32).toString('base64') })
  assert.deepEqual(readGivenSecrets(env).stripe, { secretKey: 'sk_test_hushhush', webhookSecret: 'whsec_hushhush' })
  assert.doesNotMatch(JSON.stringify(readConfig(env)), /hush/)
})

test('price, currency and another address of Stripe are checked', () => {
  const read = (env: Record<string, string>) => readConfig(readEnv(env))
  assert.deepEqual([read({}).creditPriceCents, read({}).currency, read({}).stripeApiUrl], [1, 'usd', undefined])
  assert.equal(read({ ATRIUM_CURRENCY: 'EUR' }).currency, 'eur')
  for (const value of ['0', '-1', '1.5', 'one'])
    says(() => read({ ATRIUM_CREDIT_PRICE_CENTS: value }), /ATRIUM_CREDIT_PRICE_CENTS/)
  for (const value of ['euro', 'zzz', 'e1r']) says(() => read({ ATRIUM_CURRENCY: value }), /ATRIUM_CURRENCY/)
  assert.equal(read({ ATRIUM_STRIPE_API: 'http://127.0.0.1:12111' }).stripeApiUrl, 'http://127.0.0.1:12111')
  for (const value of [
    'https://elsewhere.example',
    'http://elsewhere.example',
    'https://127.0.0.1:1',
    'elsewhere',
    'http://127.0.0.1.elsewhere.example',
  ])
    says(() => read({ ATRIUM_STRIPE_API: value }), /ATRIUM_STRIPE_API/)
})

test('without a key: the test page, and in production nothing', async () => {
  const config = readConfig(readEnv({}))
  assert.equal((await openPayments(config, undefined))?.provider, 'test')
  assert.equal(await openPayments({ ...config, production: true }, undefined), undefined)
  for (const production of [true, false]) {
    const payments = await openPayments({ ...config, production }, readStripeSecrets(readEnv(keys)))
    assert.equal(payments?.provider, 'stripe')
  }
})
