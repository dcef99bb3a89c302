import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Stripe } from 'stripe'

export const stripeSecretKey = 'sk_test_lanternharbour0123456789'
export const stripeWebhookSecret = 'whsec_lanternharbour0123456789'

/** A creation as it arrived. */
interface StripeCall {
  headers: IncomingMessage['headers']
  form: Record<string, string>
}

export interface StripeSession {
  id: string
  client_reference_id: string
  payment_status: string
  [field: string]: unknown
}

/** The outcome of the next calls. lost: Stripe does its work, and the connection breaks before the answer. */
type Mishap = 'lost' | 'silent' | { status: number; error: object }

export interface FakeStripe {
  url: string
  calls: StripeCall[]
  /** The created sessions. A repeat under the same key creates none. */
  sessions: StripeSession[]
  /** One for each of the next calls. */
  mishaps: Mishap[]
  /** Calls wait while it is true. */
  held: boolean
  /** The outcome of lists of sessions, while it is set. */
  listMishap: { status: number; error: object } | undefined
  close(): void
}

/**
 * Stripe's API on loopback, as far as Checkout needs it. It checks the key, and its idempotency keys work as Stripe
 * documents them.
 */
export async function startFakeStripe(): Promise<FakeStripe> {
  const byKey = new Map<string, { form: string; session: StripeSession }>()
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Does not keep the process alive if a test fails before it closes the server.
  server.unref()
  const fake: FakeStripe = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    sessions: [],
    mishaps: [],
    held: false,
    listMishap: undefined,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = (await req.toArray()).join('')
    const { pathname, searchParams } = new URL(req.url ?? '', fake.url)
    if (pathname !== '/v1/checkout/sessions') return refuse(res, 404, { type: 'invalid_request_error' })
    if (req.method === 'GET') return list(res, searchParams.get('payment_intent'))
    const form = Object.fromEntries(new URLSearchParams(text))
    fake.calls.push({ headers: req.headers, form })
    while (fake.held) await new Promise((resolve) => setTimeout(resolve, 5))
    const mishap = fake.mishaps.shift()
    if (mishap === 'silent') return
    if (typeof mishap === 'object') return refuse(res, mishap.status, mishap.error)
    if (req.headers.authorization !== `Bearer ${stripeSecretKey}`) {
      return refuse(res, 401, {
        type: 'invalid_request_error',
        message: `Invalid API Key provided: ${req.headers.authorization}`,
      })
    }
    const key = String(req.headers['idempotency-key'])
    const kept = byKey.get(key)
    if (kept && kept.form !== text) return refuse(res, 400, { type: 'idempotency_error' })
    const session = kept?.session ?? makeSession(form)
    if (!kept) {
      byKey.set(key, { form: text, session })
      fake.sessions.push(session)
    }
    if (mishap === 'lost') return void req.socket.destroy()
    res.setHeader('content-type', 'application/json').end(JSON.stringify(session))
  }

  function list(res: ServerResponse, payment: string | null): void {
    if (fake.listMishap) return refuse(res, fake.listMishap.status, fake.listMishap.error)
    const data = fake.sessions.filter((session) => session['payment_intent'] === payment)
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', has_more: false, data }))
  }
  return fake
}

function refuse(res: ServerResponse, status: number, error: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake' }).end(JSON.stringify({ error }))
}

function makeSession(form: Record<string, string>): StripeSession {
  const id = `cs_test_${randomBytes(24).toString('hex')}`
  const now = Math.floor(Date.now() / 1_000)
  return {
    id,
    object: 'checkout.session',
    client_reference_id: form['client_reference_id']!,
    metadata: { checkout_id: form['metadata[checkout_id]'] },
    mode: form['mode'],
    amount_total: Number(form['line_items[0][price_data][unit_amount]']),
    currency: form['line_items[0][price_data][currency]'],
    status: 'open',
    payment_status: 'unpaid',
    created: now,
    expires_at: now + 86_400,
    url: `https://checkout.stripe.com/c/pay/${id}`,
  }
}

/** An event's bytes as Stripe sends them. */
export function stripeEvent(type: string, session: StripeSession, changes: object = {}): string {
  return JSON.stringify({
    id: `evt_${randomBytes(12).toString('hex')}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1_000),
    livemode: false,
    pending_webhooks: 1,
    type,
    data: { object: { ...session, ...changes } },
  })
}

/** Stripe-Signature over the bytes. */
export function stripeSignature(payload: string, { secret = stripeWebhookSecret, ageSeconds = 0 } = {}): string {
  const timestamp = Math.floor(Date.now() / 1_000) - ageSeconds
  return new Stripe('sk_test_unused').webhooks.generateTestHeaderString({ payload, secret, timestamp })
}
