import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import {
  startFakeStripe,
  stripeEvent,
  stripeSecretKey,
  stripeSignature,
  stripeWebhookSecret,
  type FakeStripe,
  type StripeSession,
} from './fake-stripe.ts'
import { send, type Got, untilServed } from './http.ts'
import { pullEvents } from './pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from './test-api.ts'

type Row = Record<string, unknown>

/** What Stripe may tell about a session. */
export const stripeEvents = {
  paid: (session: StripeSession) =>
    stripeEvent('checkout.session.completed', session, { payment_status: 'paid', status: 'complete' }),
  free: (session: StripeSession) => stripeEvent('checkout.session.completed', session, { payment_status: 'no_payment_required' }),
  pending: (session: StripeSession) => stripeEvent('checkout.session.completed', session, { payment_status: 'unpaid' }),
  succeeded: (session: StripeSession) =>
    stripeEvent('checkout.session.async_payment_succeeded', session, { payment_status: 'paid' }),
  failed: (session: StripeSession) => stripeEvent('checkout.session.async_payment_failed', session),
  expired: (session: StripeSession) => stripeEvent('checkout.session.expired', session, { status: 'expired' }),
}

const order = {
  purpose: 'license_key',
  credits: 1_000,
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/',
}

/** The charge of a payment, as far as a refund or dispute tells it. */
export const chargeOf = (payment: string) => ({
  id: 'ch_1',
  client_reference_id: '',
  payment_status: '',
  payment_intent: payment,
})

const reports = {
  refund: ['charge.refunded', { amount: 3_000 }],
  dispute: ['charge.dispute.created', { status: 'needs_response' }],
  won: ['charge.dispute.funds_reinstated', { status: 'won' }],
} as const

/**
 * The API in production mode with a Stripe on loopback, and a tenant that sells through it. A credit costs 3 euro
 * cents.
 */
export class StripeShop {
  readonly stripe: FakeStripe
  readonly api: TestApi
  tenant!: TestTenant

  constructor(stripe: FakeStripe, api: TestApi) {
    this.stripe = stripe
    this.api = api
  }

  /** A new tenant, and a Stripe without recorded calls. */
  async openTenant(): Promise<void> {
    this.tenant = await this.api.makeTenant()
    this.stripe.calls.length = 0
    this.stripe.sessions.length = 0
  }

  create(body: object = {}, more: object = {}): Promise<Got> {
    return send(this.api, 'POST', '/checkout', { key: this.tenant.secretKey, body: { ...order, ...body }, ...more })
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async look(id: string): Promise<any> {
    return (await send(this.api, 'GET', `/checkout/${id}`, { key: this.tenant.secretKey })).body.data
  }

  /** A checkout whose buyer has reached Stripe's page. */
  async sell(body: object = {}): Promise<{ id: string; session: StripeSession }> {
    const made = await this.create(body)
    assert.equal(made.status, 201, made.text)
    return { id: made.body.data.id, session: this.stripe.sessions.at(-1)! }
  }

  async deliver(payload: string, signature = stripeSignature(payload)) {
    const headers = { 'content-type': 'application/json; charset=utf-8', ...(signature ? { 'stripe-signature': signature } : {}) }
    const res = await fetch(`${this.api.origin}/stripe/webhook`, { method: 'POST', headers, body: payload })
    return {
      status: res.status,
      headers: res.headers,
      body: (await res.json()) as { error?: { code: string; request_id: string } },
    }
  }

  async tell(name: keyof typeof stripeEvents, session: StripeSession): Promise<void> {
    const { status, body } = await untilServed(() => this.deliver(stripeEvents[name](session)))
    assert.deepEqual([status, body], [200, { received: true }])
  }

  async query(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.api.ctx.db.pool.query(sql, values)).rows
  }

  /** A paid checkout of 1,000 credits for 3,000 cents, and the id of its payment. */
  async sellPaid(purpose = 'license_key') {
    const { id, session } = await this.sell({ purpose })
    const payment = `pi_${randomUUID()}`
    await this.tell('paid', { ...session, payment_intent: payment })
    return { id, payment, license: (await this.look(id)).license_key as string }
  }

  /** Reports that this much of a payment was refunded or disputed, or came back because this dispute was won. */
  async giveBack(type: keyof typeof reports, payment: string, amount: number, dispute = 'dp_1'): Promise<void> {
    const [name, fields] = reports[type]
    const amounts = type === 'refund' ? { amount_refunded: amount } : { id: dispute, amount }
    const event = stripeEvent(name, chargeOf(payment), { ...fields, ...amounts })
    let { status } = await this.deliver(event)
    // Stripe repeats a report, and a busy machine answers 503 where many transactions wait for the platform's account.
    for (let repeats = 0; status === 503 && repeats < 5; repeats++) ({ status } = await this.deliver(event))
    assert.equal(status, 200)
  }

  redeem(license: string, key = this.tenant.publishableKey): Promise<Got> {
    return send(this.api, 'POST', '/wallets/redeem', { key, body: { license_key: license } })
  }

  /** What is in the accounts of the tenant, by their kind. */
  async balances(): Promise<Record<string, number>> {
    const rows = await this.query(
      'select kind, sum(balance)::int as balance from ledger_accounts where tenant_id = $1 and balance > 0 group by kind',
      [this.tenant.id],
    )
    return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]))
  }

  /** Kind, amount and subject of each receipt of the tenant, the newest first. */
  async receipts(): Promise<string[]> {
    const got = await send(this.api, 'GET', '/receipts', { key: this.tenant.secretKey })
    const listed = got.body.data as { kind: string; amount: number; receipt: string }[]
    return listed.map(({ kind, amount, receipt }) => `${kind} ${amount} ${decodeJwt(receipt).sub}`)
  }

  /** The data of the tenant's events of this type. */
  async events(type: string): Promise<Record<string, unknown>[]> {
    return (await pullEvents(this.api, this.tenant)).filter((event) => event.type === type).map(({ data }) => data)
  }

  /** What the tenant was sold, by the books. */
  async sold(): Promise<Row> {
    const [row] = await this.query(
      `select count(*)::int as transfers, coalesce(sum(amount), 0)::int as credits,
         (select count(*)::int from ledger_accounts where tenant_id = $1 and kind = 'license') as licenses
       from ledger_transfers where actor = $1`,
      [this.tenant.id],
    )
    return row!
  }

  async close(): Promise<void> {
    await this.api.close()
    this.stripe.close()
  }
}

/** The settings of an API that sells through this Stripe. */
export const shopSettings = (stripe: FakeStripe) => ({
  stripeSecretKey,
  stripeWebhookSecret,
  stripeApiUrl: stripe.url,
  creditPriceCents: '3',
  currency: 'eur',
})

export async function startStripeShop(): Promise<StripeShop> {
  const stripe = await startFakeStripe()
  return new StripeShop(stripe, await startTestApi({ ...shopSettings(stripe), nodeEnv: 'production' }))
}
