import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { auditLedger } from '../../packages/server/src/features/credits/ledger/audit-store.ts'
import { startFakeStripe, stripeEvent, type FakeStripe } from '../../packages/server/testing/fake-stripe.ts'
import { send } from '../../packages/server/testing/http.ts'
import { startProviderServer, type ProviderServer } from '../../packages/server/testing/provider-server.ts'
import { eventually, startSessionWorld, type SessionWorld } from '../../packages/server/testing/session-world.ts'
import { chargeOf, shopSettings, StripeShop } from '../../packages/server/testing/stripe-shop.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'

let proxy: PostgresProxy
let stripe: FakeStripe
let provider: ProviderServer
let world: SessionWorld
let shop: StripeShop

before(async () => {
  proxy = await startPostgresProxy(process.env['ATRIUM_TEST_DATABASE_URL']!)
  process.env['ATRIUM_TEST_DATABASE_URL'] = proxy.url
  stripe = await startFakeStripe()
  provider = await startProviderServer()
  world = await startSessionWorld({ runner: false, settings: shopSettings(stripe) })
  shop = new StripeShop(stripe, world.api)
  await shop.openTenant()
  const body = { openai_compatible: { url: provider.compatibleUrl, key: 'sk-canary-12345' } }
  await send(world.api, 'PUT', '/tenant/provider-keys', { key: world.tenant.secretKey, body })
})
after(async () => {
  await world.close()
  await proxy.close()
  await provider.close()
  stripe.close()
})

interface Attempt {
  /** One request. It is repeated as it is. */
  run: () => Promise<{ status: number }>
  /** What must be so after it. */
  check: () => Promise<void>
}

/**
 * Cuts all connections to PostgreSQL at each statement of the request, before PostgreSQL receives it and before its
 * reply arrives. The caller then repeats the request. After each cut the books are audited.
 */
async function cutAtEach(prepare: () => Promise<Attempt>): Promise<void> {
  let cuts = 0
  for (const when of ['before', 'after'] as const)
    for (let nth = 1; ; nth++) {
      const { run, check } = await prepare()
      proxy.takeStatements()
      const reached = proxy.hold({ nth, when })
      const first = run().catch((error: unknown) => ({ status: 0, error }))
      const statement = await Promise.race([reached, first.then(() => undefined)])
      if (statement !== undefined) {
        cuts++
        await proxy.cut()
        await proxy.restore()
      }
      proxy.release()
      const told = await first
      const place = `cut ${when} statement ${nth}: ${statement?.slice(0, 80)}`
      if (statement === undefined) assert.ok(told.status < 300, `${told.status} without a cut`)
      else assert.ok(told.status < 300 || told.status >= 500, `${told.status}, ${place}`)
      await eventually(async () => {
        const { status } = await run()
        assert.ok(status < 300 || status >= 500, `repeat: ${status}, ${place}`)
        return status < 300
      }, place)
      await check().catch((error: Error) => assert.fail(`${place}: ${error.message}`))
      assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [], place)
      if (statement === undefined) break
    }
  assert.ok(cuts > 8, `${cuts} cuts`)
}

async function sellWallet() {
  await shop.openTenant()
  const sold = await shop.sellPaid()
  return { ...sold, wallet: (await shop.redeem(sold.license)).body.data.wallet_code as string }
}

async function balanceOf(coupon: string) {
  const { balance, held } = await world.balance(coupon)
  return [balance, held]
}

async function launch(coupon: string, agent: object, more: object = {}) {
  const got = await world.launch(await world.makeAgent(agent), world.newRoom(), coupon, more)
  assert.equal(got.status, 201, got.text)
  return { id: got.body.data.id as string, token: got.body.data.control_token as string }
}

const metered = { price_credits: 5, credits_per_1k_tokens: 1_000, model: { provider: 'openai_compatible', id: 'lamp-1' } }
const report = (name: string, payment: string, fields: object) => {
  const event = stripeEvent(name, chargeOf(payment), fields)
  return () => shop.deliver(event)
}
const refund = (payment: string, amount = 3_000) => report('charge.refunded', payment, { amount_refunded: amount })
const dispute = (payment: string) =>
  report('charge.dispute.created', payment, { id: 'dp_1', amount: 3_000, status: 'needs_response' })
const won = (payment: string) => report('charge.dispute.funds_reinstated', payment, { id: 'dp_1', amount: 3_000, status: 'won' })

test('a refund takes its credits once', () =>
  cutAtEach(async () => {
    const { payment, wallet } = await sellWallet()
    await launch(wallet, { price_credits: 400 })
    return {
      run: refund(payment),
      check: async () => assert.deepEqual(await shop.balances(), { held: 400, loss: 400 }),
    }
  }))

test('a dispute takes its credits once, and a won one gives them back once', async () => {
  await cutAtEach(async () => {
    const { payment } = await sellWallet()
    return { run: dispute(payment), check: async () => assert.deepEqual(await shop.balances(), {}) }
  })
  await cutAtEach(async () => {
    const { payment } = await sellWallet()
    assert.equal((await dispute(payment)()).status, 200)
    return { run: won(payment), check: async () => assert.deepEqual(await shop.balances(), { wallet: 1_000 }) }
  })
})

test('the end of a session pays what its wallet owes once', () =>
  cutAtEach(async () => {
    const { payment, wallet } = await sellWallet()
    const { id, token } = await launch(wallet, { price_credits: 400 })
    assert.equal((await refund(payment)()).status, 200)
    return {
      run: () => world.control('POST', `/sessions/${id}/stop`, token),
      check: async () => assert.deepEqual(await shop.balances(), {}),
    }
  }))

test('a grant moves its credits once', () =>
  cutAtEach(async () => {
    const { wallet } = await sellWallet()
    const request = { key: shop.tenant.secretKey, idempotencyKey: randomUUID(), body: { amount: 300, wallet_code: wallet } }
    return {
      run: () => send(world.api, 'POST', '/wallets/grant', request),
      check: async () => assert.deepEqual(await shop.balances(), { wallet: 700, coupon: 300 }),
    }
  }))

test('a launch holds price and budget once', () =>
  cutAtEach(async () => {
    const coupon = await world.makeCoupon(50)
    const agentId = await world.makeAgent(metered)
    const body = { agent_id: agentId, room: world.newRoom(), coupon, budget_credits: 20 }
    const request = { key: world.tenant.secretKey, idempotencyKey: randomUUID(), body }
    return {
      run: () => send(world.api, 'POST', '/sessions', request),
      check: async () => assert.deepEqual(await balanceOf(coupon), [25, 25]),
    }
  }))

test('a top-up holds its credits once', () =>
  cutAtEach(async () => {
    const coupon = await world.makeCoupon(50)
    const { id, token } = await launch(coupon, metered, { budget_credits: 20 })
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() }
    const body = { coupon, budget_credits: 10 }
    return {
      run: () => send(world.api, 'POST', `/sessions/${id}/top-up`, { headers, body }),
      check: async () => assert.deepEqual(await balanceOf(coupon), [15, 35]),
    }
  }))

test('the end of a session with a budget captures the price and what was used, once', () =>
  cutAtEach(async () => {
    const coupon = await world.makeCoupon(50)
    const { id, token } = await launch(coupon, metered, { budget_credits: 20 })
    await shop.query(`update sessions set status = 'running', joined_at = now(), used = 12, used_tokens = 12000 where id = $1`, [
      id,
    ])
    return {
      run: () => world.control('POST', `/sessions/${id}/stop`, token),
      check: async () => assert.deepEqual(await balanceOf(coupon), [33, 0]),
    }
  }))
