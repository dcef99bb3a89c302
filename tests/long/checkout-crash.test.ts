import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  startFakeStripe,
  stripeEvent,
  stripeSecretKey,
  stripeSignature,
  stripeWebhookSecret,
  type FakeStripe,
} from '../../packages/server/testing/fake-stripe.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeTenant, type Answer, type TestTenant } from '../support/call-api.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'
import { queryDatabase } from '../support/query-database.ts'
import { stopSweeps } from '../support/stop-sweeps.ts'

let database: TestDatabase
let proxy: PostgresProxy
let stripe: FakeStripe
let atrium: AtriumProcess
let start: () => Promise<AtriumProcess>
before(async () => {
  database = await createTestDatabase()
  await stopSweeps(database.url)
  proxy = await startPostgresProxy(database.url)
  stripe = await startFakeStripe()
  const port = await freePort()
  const env = { STRIPE_SECRET_KEY: stripeSecretKey, STRIPE_WEBHOOK_SECRET: stripeWebhookSecret, ATRIUM_STRIPE_API: stripe.url }
  start = () => startAtrium({ databaseUrl: proxy.url, port, env, role: 'api' })
  atrium = await start()
})
after(async () => {
  await atrium?.end('SIGKILL')
  stripe.close()
  await proxy.close()
  await database.drop()
})

const order = { purpose: 'license_key', credits: 60, success_url: 'https://shop.example/', cancel_url: 'https://shop.example/' }
const create = ({ secret, id }: TestTenant): Promise<Answer> =>
  call(atrium.origin, 'POST /v1/checkout', { key: secret, body: order, idempotencyKey: `order of ${id}` })

async function look({ secret }: TestTenant, id: string): Promise<{ status: string; license_key?: string }> {
  return (await call(atrium.origin, `GET /v1/checkout/${id}`, { key: secret })).data
}

async function complete(checkoutId: string): Promise<void> {
  const session = stripe.sessions.find((one) => one.client_reference_id === checkoutId)!
  const body = stripeEvent('checkout.session.completed', session, { payment_status: 'paid' })
  const headers = { 'content-type': 'application/json', 'stripe-signature': stripeSignature(body) }
  const res = await fetch(`${atrium.origin}/stripe/webhook`, { method: 'POST', headers, body })
  assert.equal(res.status, 200)
}

/** An operation that is interrupted, and what must be true after it is repeated. */
interface Attempt {
  tenant: TestTenant
  run: () => Promise<unknown>
  holds: () => Promise<void>
}

async function soldOnce(tenant: TestTenant, checkoutId: string): Promise<void> {
  const [books] = await queryDatabase<{ transfers: number; licenses: number; credits: number }>(
    database.url,
    `select (select count(*)::int from ledger_transfers where actor = $1) as transfers,
       count(*)::int as licenses, sum(balance)::int as credits
     from ledger_accounts where tenant_id = $1 and kind = 'license'`,
    [tenant.id],
  )
  assert.deepEqual(books, { transfers: 1, licenses: 1, credits: 60 })
  const { status, license_key: license } = await look(tenant, checkoutId)
  assert.equal(status, 'paid')
  assert.equal((await look(tenant, checkoutId)).license_key, license, 'whoever lost the answer asks again')
  const redeemed = await call(atrium.origin, 'POST /v1/wallets/redeem', {
    key: tenant.publishable,
    body: { license_key: license },
  })
  assert.equal(redeemed.status, 201, redeemed.text)
  assert.equal((await look(tenant, checkoutId)).license_key, undefined, 'a redeemed key is gone')
}

const attempts: Record<string, () => Promise<Attempt>> = {
  create: async () => {
    const tenant = await makeTenant(atrium.origin)
    return {
      tenant,
      run: () => create(tenant),
      holds: async () => {
        const answers = [await create(tenant), await create(tenant)]
        assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
        const { id } = answers[0]!.data
        const rows = await queryDatabase(database.url, 'select id from checkouts where tenant_id = $1', [tenant.id])
        assert.deepEqual(rows, [{ id }])
        assert.equal(stripe.sessions.filter((one) => one.client_reference_id === id).length, 1)
        await complete(id)
        await soldOnce(tenant, id)
      },
    }
  },
  complete: async () => {
    const tenant = await makeTenant(atrium.origin)
    const { id } = (await create(tenant)).data
    return {
      tenant,
      run: () => complete(id),
      holds: async () => {
        await complete(id)
        await complete(id)
        await soldOnce(tenant, id)
      },
    }
  },
}

/** The key is looked up and the connection is open before, because neither is part of the interrupted operation. */
async function warm({ tenant }: Attempt): Promise<void> {
  await call(atrium.origin, 'POST /v1/collections', { key: tenant.secret, body: 'not json' })
}

test('a kill before or after any statement of a sale: one session, one sale, one key, which is shown', async (t) => {
  const statements = new Map<string, string[]>()
  for (const [name, prepare] of Object.entries(attempts)) {
    const attempt = await prepare()
    await warm(attempt)
    proxy.takeStatements()
    await attempt.run()
    statements.set(name, proxy.takeStatements())
    assert.equal(statements.get(name)!.at(-1), 'commit', name)
  }
  let points = 0
  for (const when of ['before', 'after'] as const) {
    for (let nth = 1; nth <= Math.max(...[...statements.values()].map((own) => own.length)); nth++) {
      const interrupted: [string, Attempt][] = []
      const lost: Promise<unknown>[] = []
      // All preparations come first, because a paused completion blocks the books for others.
      const prepared: [string, Attempt][] = []
      for (const [name, prepare] of Object.entries(attempts)) prepared.push([name, await prepare()])
      for (const [name, attempt] of prepared) {
        const own = statements.get(name)!
        if (nth > own.length) continue
        await warm(attempt)
        const stands = proxy.hold({ nth, when })
        lost.push(assert.rejects(attempt.run(), `${name} ${when} ${nth}: no answer can come`))
        assert.equal(await stands, own[nth - 1], `${name}: statement ${nth}`)
        interrupted.push([name, attempt])
      }
      await atrium.end('SIGKILL')
      await Promise.all(lost)
      proxy.release()
      atrium = await start()
      for (const [name, attempt] of interrupted) {
        points++
        await attempt.holds().catch((error: unknown) => {
          throw new Error(`${name} killed ${when} statement ${nth}`, { cause: error })
        })
      }
    }
  }
  t.diagnostic(`${points} kill points`)
})
