import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, beforeEach, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startFakeStripe, type FakeStripe } from '#testing/fake-stripe.ts'
import { send } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { shopSettings, StripeShop } from '#testing/stripe-shop.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { auditLedger } from '../ledger/audit-store.ts'
import { sweepLedger } from '../ledger/ledger.ts'

let stripe: FakeStripe
let world: SessionWorld
let shop: StripeShop
before(async () => {
  stripe = await startFakeStripe()
  // Without a worker, no agent joins: the price of a session is held, and released when it is stopped.
  world = await startSessionWorld({ runner: false, settings: shopSettings(stripe) })
  shop = new StripeShop(stripe, world.api)
})
beforeEach(() => shop.openTenant())
afterEach(async () => assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, []))
after(async () => {
  await world.close()
  stripe.close()
})

async function sellWallet(key?: string) {
  const sold = await shop.sellPaid()
  return { ...sold, wallet: (await shop.redeem(sold.license, key)).body.data.wallet_code as string }
}

/** Starts a session that holds this much of the wallet. The result stops it. */
async function hold(credits: number, wallet: string) {
  const agentId = await world.makeAgent({ price_credits: credits })
  const launched = await world.launch(agentId, world.newRoom(), wallet)
  assert.equal(launched.status, 201, launched.text)
  const { id, control_token: token } = launched.body.data
  const stop = () => world.control('POST', `/sessions/${id}/stop`, token)
  return Object.assign(stop, { read: async () => (await world.control('GET', `/sessions/${id}`, token)).body.data })
}

async function grant(amount: number, more: object): Promise<string> {
  const got = await send(world.api, 'POST', '/wallets/grant', {
    key: shop.tenant.secretKey,
    idempotencyKey: randomUUID(),
    body: { amount, ...more },
  })
  assert.equal(got.status, 201, got.text)
  return got.body.data.coupon
}

async function balanceOf(wallet: string): Promise<[number, number]> {
  const { balance, held } = await world.balance(wallet)
  return [balance, held]
}

/** A busy machine needs some of it for the requests in between. */
const inAMoment = () => ({ expires_at: new Date(Date.now() + 3_000).toISOString() })
const left = async () =>
  (await shop.query('select count(*)::int as count from ledger_due where due_at < now() + $1', ['1 minute']))[0]

/** Waits until the sweeper has returned what is in coupons that expired. */
const sweep = () =>
  eventually(async () => {
    await sweepLedger(world.api.ctx.db, world.api.ctx.ledger, 100)
    return (await left())?.['count'] === 0
  }, 'coupons expire')

test('credits that a session holds when their payment is refunded are taken back when the session ends', async () => {
  const { id, payment, wallet } = await sellWallet()
  const stop = await hold(400, wallet)
  await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), { held: 400, loss: 400 })
  const stopped = await Promise.all([stop(), stop()])
  assert.deepEqual(
    stopped.map(({ status }) => status),
    [200, 200],
  )
  assert.deepEqual(await shop.balances(), {})
  assert.deepEqual(await balanceOf(wallet), [0, 0])
  assert.deepEqual(await shop.events('checkout.recovered'), [{ checkout_id: id, taken: 400, owed: 0 }])
  const all = (await shop.receipts()).toSorted()
  assert.deepEqual(all, [`checkout 1000 ${id}`, `loss 400 ${id}`, `recovery 400 ${id}`, `refund 400 ${id}`, `refund 600 ${id}`])
  const query = { key: shop.tenant.publishableKey, body: { wallet_code: wallet } }
  const { data } = (await send(world.api, 'POST', '/receipts/lookup', query)).body
  assert.deepEqual(
    data.filter(({ kind }: { kind: string }) => kind === 'refund').map(({ amount }: { amount: number }) => amount),
    [400, 600],
  )
})

test('of two holds, the one that is settled stays a loss, and the one that is released is taken back', async () => {
  const { id, payment, wallet } = await sellWallet()
  const runner = await world.startRunner()
  const settled = await hold(300, wallet)
  await eventually(async () => (await settled.read()).joined_at, 'the agent joins')
  await runner.stop()
  const released = await hold(400, wallet)
  await shop.giveBack('dispute', payment, 3_000)
  await settled()
  await released()
  assert.deepEqual(await balanceOf(wallet), [0, 0])
  assert.equal((await shop.balances())['loss'], 300)
  assert.deepEqual(await shop.events('checkout.recovered'), [{ checkout_id: id, taken: 400, owed: 300 }])
})

test('no more than what is owed is taken, over several partial refunds and holds', async () => {
  const { id, payment, wallet } = await sellWallet()
  const [first, second] = [await hold(500, wallet), await hold(300, wallet)]
  await shop.giveBack('refund', payment, 1_200)
  // 200 were there, and 200 are owed.
  await shop.giveBack('refund', payment, 1_200)
  await shop.giveBack('refund', payment, 2_100)
  assert.deepEqual(await shop.balances(), { held: 800, loss: 500 })
  await second()
  assert.deepEqual(await balanceOf(wallet), [0, 500])
  await first()
  assert.deepEqual(await balanceOf(wallet), [300, 0])
  assert.deepEqual(await shop.balances(), { wallet: 300 })
  const recovered = await shop.events('checkout.recovered')
  assert.deepEqual(
    recovered.map(({ checkout_id, taken, owed }) => [checkout_id, taken, owed]),
    [
      [id, 300, 200],
      [id, 200, 0],
    ],
  )
  const other = await hold(300, wallet)
  await other()
  assert.deepEqual(await balanceOf(wallet), [300, 0])
})

test('a wallet of another tenant pays what it owes to the seller', async () => {
  const elsewhere = await world.api.makeTenant()
  const { payment, wallet } = await sellWallet(elsewhere.publishableKey)
  const stop = await hold(1_000, wallet)
  await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), { loss: 1_000 })
  await stop()
  assert.deepEqual([await shop.balances(), await balanceOf(wallet)], [{}, [0, 0]])
})

test('the rest of an expired coupon, and of one granted from it, pays what the wallet owes', async () => {
  const { payment, wallet } = await sellWallet()
  const coupon = await grant(700, { wallet_code: wallet, ...inAMoment() })
  await grant(100, { wallet_code: coupon })
  await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), { coupon: 700, loss: 700 })
  await sweep()
  assert.deepEqual([await shop.balances(), await balanceOf(wallet)], [{}, [0, 0]])
})

test('an issuer’s balance pays with what returns, and keeps what was bought since', async () => {
  const { payment } = await shop.sellPaid('prefund')
  await grant(800, inAMoment())
  await shop.giveBack('refund', payment, 3_000)
  await shop.sellPaid('prefund')
  assert.deepEqual(await shop.balances(), { coupon: 800, issuer: 1_000, loss: 800 })
  await sweep()
  assert.deepEqual(await shop.balances(), { issuer: 1_000 })
})

test('a dispute that is won gives back what was taken in all, and cancels what is still owed', async () => {
  const { id, payment, wallet } = await sellWallet()
  const [first, second] = [await hold(150, wallet), await hold(250, wallet)]
  await shop.giveBack('dispute', payment, 3_000)
  await first()
  assert.deepEqual(await shop.balances(), { held: 250, loss: 250 })
  for (let i = 0; i < 2; i++) await shop.giveBack('won', payment, 3_000)
  // Late and repeated.
  await shop.giveBack('dispute', payment, 3_000)
  assert.deepEqual(await balanceOf(wallet), [750, 250])
  await second()
  assert.deepEqual(await shop.balances(), { wallet: 1_000 })
  assert.deepEqual(await shop.events('checkout.reinstated'), [{ checkout_id: id, returned: 750, cancelled: 250 }])
  assert.equal((await shop.receipts()).filter((text) => text.startsWith('reinstatement 750')).length, 1)
  await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), {})
})

test('a refund before a dispute that is won stays taken back', async () => {
  const { payment, wallet } = await sellWallet()
  const stop = await hold(900, wallet)
  await shop.giveBack('refund', payment, 1_500)
  await shop.giveBack('dispute', payment, 1_500)
  assert.deepEqual(await shop.balances(), { held: 900, loss: 900 })
  await shop.giveBack('won', payment, 1_500)
  assert.deepEqual(await shop.balances(), { held: 900, loss: 400 })
  await stop()
  assert.deepEqual([await shop.balances(), await balanceOf(wallet)], [{ wallet: 500 }, [500, 0]])
})

test('a license key that a dispute voided is valid again when the dispute is won', async () => {
  const { id, payment, license } = await shop.sellPaid()
  await shop.giveBack('dispute', payment, 3_000)
  assert.equal((await shop.look(id)).license_key, undefined)
  await shop.giveBack('won', payment, 3_000)
  assert.equal((await shop.look(id)).license_key, license)
  assert.equal((await shop.redeem(license)).body.data.balance, 1_000)
})

test('a won dispute that is reported before the dispute takes and gives nothing', async () => {
  const { payment } = await shop.sellPaid()
  await shop.giveBack('won', payment, 3_000)
  await shop.giveBack('dispute', payment, 3_000)
  assert.deepEqual(await shop.balances(), { license: 1_000 })
})

test('each dispute of a payment is taken and won by itself, however often and in which order it is reported', async () => {
  const { id, payment, wallet } = await sellWallet()
  await shop.giveBack('dispute', payment, 900, 'dp_shirt')
  for (let i = 0; i < 2; i++) await shop.giveBack('dispute', payment, 1_500, 'dp_trousers')
  await shop.giveBack('dispute', payment, 900, 'dp_shirt')
  assert.deepEqual(await balanceOf(wallet), [200, 0])
  for (let i = 0; i < 2; i++) await shop.giveBack('won', payment, 900, 'dp_shirt')
  assert.deepEqual(await balanceOf(wallet), [500, 0])
  await shop.giveBack('dispute', payment, 1_500, 'dp_trousers')
  await shop.giveBack('won', payment, 600, 'dp_early')
  await shop.giveBack('dispute', payment, 600, 'dp_early')
  assert.deepEqual(await balanceOf(wallet), [500, 0])
  // Filed again, for the same amount.
  await shop.giveBack('dispute', payment, 900, 'dp_shirt_again')
  assert.deepEqual(await balanceOf(wallet), [200, 0])
  await shop.giveBack('won', payment, 1_500, 'dp_trousers')
  await shop.giveBack('won', payment, 900, 'dp_shirt_again')
  assert.deepEqual(await balanceOf(wallet), [1_000, 0])
  const taken = (await shop.events('checkout.refunded')).map((event) => event['taken'])
  const returned = (await shop.events('checkout.reinstated')).map((event) => event['returned'])
  assert.deepEqual([taken, returned, (await shop.look(id)).status], [[300, 500, 300], [300, 500, 300], 'paid'])
})

test('two disputes of the whole payment take its credits once, and a won one gives none back while the other stands', async () => {
  const { payment, wallet } = await sellWallet()
  for (const dispute of ['dp_1', 'dp_2']) await shop.giveBack('dispute', payment, 3_000, dispute)
  await shop.giveBack('won', payment, 3_000, 'dp_1')
  assert.deepEqual(await balanceOf(wallet), [0, 0])
  await shop.giveBack('won', payment, 3_000, 'dp_2')
  assert.deepEqual(await balanceOf(wallet), [1_000, 0])
})

test('disputes that an earlier release has counted, without their ids, are counted once when they are reported again', async () => {
  const { id, payment, wallet } = await sellWallet()
  await shop.giveBack('dispute', payment, 1_500)
  await shop.query(`update checkouts set disputes = '{}' where id = $1`, [id])
  await shop.giveBack('dispute', payment, 1_500)
  assert.deepEqual(await balanceOf(wallet), [500, 0])
  await shop.query(`update checkouts set disputes = '{}' where id = $1`, [id])
  await shop.giveBack('won', payment, 1_500)
  await shop.query(`update checkouts set disputes = '{}' where id = $1`, [id])
  await shop.giveBack('dispute', payment, 1_500)
  assert.deepEqual(await balanceOf(wallet), [1_000, 0])
})

test('reported while many sessions of the wallet end, a payment is taken back exactly once', async () => {
  const rounds: { payment: string; wallet: string; stops: (() => Promise<{ status: number }>)[] }[] = []
  for (let i = 0; i < 4; i++) {
    const { payment, wallet } = await sellWallet()
    const stops = await Promise.all(Array.from({ length: 4 }, () => hold(200, wallet)))
    rounds.push({ payment, wallet, stops })
  }
  // Of every second payment, a half is owed before.
  for (const { payment } of rounds.filter((_, i) => i % 2)) await shop.giveBack('refund', payment, 1_500)
  await Promise.all(
    rounds.flatMap(({ payment, stops }) => [
      shop.giveBack('refund', payment, 1_500),
      shop.giveBack('dispute', payment, 1_500),
      ...[...stops, ...stops].map((stop) => eventually(async () => (await stop()).status === 200, 'it stops', 60_000)),
      shop.giveBack('refund', payment, 1_500),
    ]),
  )
  assert.deepEqual(await shop.balances(), {})
  for (const { wallet } of rounds) assert.deepEqual(await balanceOf(wallet), [0, 0])
})

/** Locks the account of the platform, which every reversal and recovery changes. */
async function lockPlatform(t: TestContext) {
  const client = await world.api.ctx.db.pool.connect()
  await client.query(`begin; select from ledger_accounts where tenant_id = 'platform' for update`)
  let isLocked = true
  const release = async () => {
    if (!isLocked) return
    isLocked = false
    await client.query('commit')
    client.release()
  }
  t.after(release)
  return { release, isAwaited: () => untilBlocked(world.api.ctx.db.pool) }
}

test('a session that waits while its payment is reversed finds what is owed then', async (t) => {
  const { payment, wallet } = await sellWallet()
  const stop = await hold(400, wallet)
  const platform = await lockPlatform(t)
  // A report that waits too long is answered with 503, and repeated.
  const report = () => shop.giveBack('refund', payment, 3_000)
  const reported = eventually(
    async () =>
      report().then(
        () => true,
        () => false,
      ),
    'the report is taken',
  )
  await platform.isAwaited()
  const stopped = stop()
  // Long enough for the session to wait. If it comes later, it finds the same.
  await delay(100)
  await platform.release()
  assert.equal((await stopped).status, 200)
  await reported
  assert.deepEqual([await shop.balances(), await balanceOf(wallet)], [{}, [0, 0]])
})

test('a coupon that expires while the account of the platform is locked pays after that, and delays no other', async (t) => {
  const { payment, wallet } = await sellWallet()
  await grant(300, { wallet_code: wallet, ...inAMoment() })
  const other = await sellWallet()
  await grant(300, { wallet_code: other.wallet, ...inAMoment() })
  await shop.giveBack('refund', payment, 3_000)
  const platform = await lockPlatform(t)
  const swept = sweep()
  await eventually(async () => (await balanceOf(other.wallet))[0] === 1_000, 'the other coupon returns')
  assert.deepEqual(await shop.balances(), { coupon: 300, loss: 300, wallet: 1_000 })
  await platform.release()
  await swept
  assert.deepEqual(await shop.balances(), { wallet: 1_000 })
})

test('if the record cannot be written, the session does not end and nothing moves; the next stop does both', async (t) => {
  const { payment, wallet } = await sellWallet()
  const stop = await hold(400, wallet)
  await shop.giveBack('refund', payment, 3_000)
  const disable = () => shop.query('drop trigger if exists refused on ledger_reversals')
  t.after(disable)
  await shop.query(`create trigger refused before update on ledger_reversals execute function refuse_ledger_change()`)
  assert.equal((await stop()).status, 500)
  assert.deepEqual(await shop.balances(), { held: 400, loss: 400 })
  await disable()
  assert.equal((await stop()).status, 200)
  assert.deepEqual(await shop.balances(), {})
})

test('the audit finds a record that is not what moved', async () => {
  const { id, payment, wallet } = await sellWallet()
  await hold(400, wallet)
  await shop.giveBack('refund', payment, 3_000)
  const change = (by: number) => shop.query('update ledger_reversals set recovered = recovered + $2 where purpose = $1', [id, by])
  await change(100)
  const { findings } = await auditLedger(world.api.ctx.db)
  await change(-100)
  assert.deepEqual(
    findings.map(({ rule, subject }) => [rule, subject]),
    [['returned payments are taken back once', `${shop.tenant.id}/${id}`]],
  )
})
