import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { askGood, type TestTenant } from './call-api.ts'

const back = 'http://localhost/back'

/** Presses the button of the built-in payment page; again, as a person does, where a busy machine answered 503. */
export async function payCheckout(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const paid = await fetch(url, { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' })
    if (paid.status === 303) return
    assert.ok(paid.status === 503 && attempt < 5, `${paid.status} ${await paid.text()}`)
    await delay(1_000 * Number(paid.headers.get('retry-after') ?? 1))
  }
}

/** Sells credits like a real buyer: through a checkout and its payment page. Returns the id of the checkout. */
export async function sellCredits(
  origin: string,
  secretKey: string,
  purpose: 'license_key' | 'prefund',
  credits: number,
): Promise<string> {
  const body = { purpose, credits, success_url: back, cancel_url: back }
  const { data } = await askGood(origin, 'POST /v1/checkout', { key: secretKey, body })
  await payCheckout(data.url)
  return data.id
}

export async function buyLicense(origin: string, secretKey: string, credits = 1): Promise<string> {
  const id = await sellCredits(origin, secretKey, 'license_key', credits)
  const { data } = await askGood(origin, `GET /v1/checkout/${id}`, { key: secretKey })
  return data.license_key
}

export async function makeWallet(origin: string, secretKey: string, credits: number): Promise<string> {
  const body = { license_key: await buyLicense(origin, secretKey, credits) }
  return (await askGood(origin, 'POST /v1/wallets/redeem', { key: secretKey, body })).data.wallet_code
}

/** A coupon out of the issuer's balance. */
export async function grantCoupon(origin: string, secretKey: string, amount: number): Promise<string> {
  const options = { key: secretKey, idempotencyKey: randomUUID(), body: { amount } }
  return (await askGood(origin, 'POST /v1/wallets/grant', options)).data.coupon
}

const wallets = new WeakMap<TestTenant, Promise<string>>()

/** A wallet of the tenant that no test empties. It is the same one each time. */
export function deepWallet(origin: string, tenant: TestTenant): Promise<string> {
  const known = wallets.get(tenant) ?? makeWallet(origin, tenant.secret, 1_000_000)
  wallets.set(tenant, known)
  return known
}
