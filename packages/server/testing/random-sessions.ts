import assert from 'node:assert/strict'
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { HeldElsewhere } from '@atrium/traffic/overloaded'
import { decodeJwt } from 'jose'
import { findLaunchable } from '#features/agents/status.ts'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { launchInto, payerOf } from '#features/sessions/launch.ts'
import { recordStep } from '#features/sessions/record-step.ts'
import { commitEnd, joinSession } from '#features/sessions/session-transitions.ts'
import type { Ending, Session } from '#features/sessions/session.ts'
import { send } from './http.ts'
import { pullEvents } from './pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from './test-api.ts'

const concurrency = 8
const endings: Ending[] = [
  { status: 'stopped' },
  { status: 'expired' },
  { status: 'failed', error: { code: 'agent_failed', message: 'It failed.' } },
]

/**
 * Runs sessions at random: some are not covered, some agents never join, some fail after they spoke, and many are
 * ended twice at once. Half of them have a budget, of which the agent uses something; many pause, and some of these are
 * topped up. Then receipts, ledger, usage and events must agree to the credit, in sum and for each session.
 */
export async function checkRandomSessions(count: number): Promise<void> {
  const api = await startTestApi()
  try {
    const tenant = await api.makeTenant()
    const launched = await runSessions(api, tenant, count)
    await assertAgreement(api, tenant, launched)
  } finally {
    await api.close()
  }
}

async function runSessions(api: TestApi, tenant: TestTenant, count: number): Promise<number> {
  const { ctx } = api
  const made = await send({ baseUrl: api.origin }, 'POST', '/agents', {
    key: tenant.secretKey,
    body: {
      name: 'Echo',
      description: 'Echoes.',
      instructions: '',
      price_credits: 1,
      credits_per_1k_tokens: 3,
      credits_per_tool_call: 2,
      max_minutes: 30,
    },
  })
  const agentId = made.body.data.id as string
  await ctx.ledger.add({
    type: 'transfer',
    id: transactionId('test', randomUUID()),
    kind: 'prefund',
    from: platformAccount,
    to: issuerAccount(tenant.id),
    amountCredits: count * 90,
    actor: tenant.id,
  })
  await send({ baseUrl: api.origin }, 'PUT', `/agents/${agentId}/status`, { key: tenant.secretKey, body: { status: 'active' } })
  const agent = await findLaunchable(ctx.db, tenant.id, agentId)
  assert.ok(agent)

  const runOne = async (): Promise<number> => {
    const coupon = await grant(api, tenant, randomInt(1, 60))
    const payer = await payerOf(ctx, coupon)
    const priced = { ...agent, priceCredits: randomInt(0, 30), raisedFromCredits: null }
    const launch = {
      tenantId: tenant.id,
      agent: priced,
      room: randomUUID(),
      mk: randomBytes(32).toString('base64url'),
      coupon,
      maxMinutes: undefined,
      maxPriceCredits: undefined,
      budgetCredits: randomInt(2) * randomInt(1, 20),
      metadata: null,
      isClientSealed: false,
      device: null,
      roomCount: 1,
    }
    const begun = await retried(() => ctx.db.transaction((tx) => launchInto(ctx, tx, launch, payer, null))).catch(
      (error: Error) => error,
    )
    if (begun instanceof Error) {
      assert.equal('code' in begun && begun.code, 'insufficient_credit')
      return 0
    }
    assert.ok(begun)
    const { session, controlToken } = begun
    if (randomInt(4) > 0) {
      await retried(() => ctx.db.transaction((tx) => joinSession(tx, session)))
      if (session.budget) await useBudget(api, tenant, session, controlToken)
    }
    if (randomInt(2) > 0)
      await ctx.db.pool.query('update sessions set spoke_at = now() where id = $1 and joined_at is not null', [session.id])
    const ending = () => endings[randomInt(endings.length)]!
    await Promise.all(Array.from({ length: randomInt(1, 3) }, () => retried(() => commitEnd(ctx, session, ending()))))
    return 1
  }
  let left = count
  let launched = 0
  const runAll = async () => {
    while (left-- > 0) {
      const begun = await runOne()
      launched += begun
    }
  }
  await Promise.all(Array.from({ length: concurrency }, runAll))
  return launched
}

/** Steps of the agent, some of them recorded twice, until the session pauses; then perhaps a top-up, and more steps. */
async function useBudget(api: TestApi, tenant: TestTenant, session: Session, controlToken: string): Promise<void> {
  const { db } = api.ctx
  await db.pool.query(`update sessions set lease_owner = 'worker' where id = $1`, [session.id])
  let number = 0
  for (let rounds = randomInt(3); rounds >= 0; rounds--) {
    for (let steps = randomInt(8); steps > 0; steps--) {
      const step = randomInt(2) > 0 ? ({ type: 'tool_call' } as const) : { type: 'answer' as const, tokens: randomInt(3_000) }
      const recorder = { leaseOwner: 'worker', number: ++number }
      const record = () => retried(() => db.transaction((tx) => recordStep(tx, session, recorder, step)))
      const outcome = await record()
      if (randomInt(4) === 0) assert.deepEqual(await record(), outcome)
      if (outcome?.isPaused) break
    }
    const got = await send(api, 'POST', `/sessions/${session.id}/top-up`, {
      headers: { authorization: `Bearer ${controlToken}`, 'idempotency-key': randomUUID() },
      body: { coupon: await grant(api, tenant, 20), budget_credits: randomInt(1, 15) },
    })
    assert.ok(got.status === 200 || got.body.error.code === 'invalid_request' || got.status === 503, got.text)
  }
}

/** As a worker or a client does: every session here settles on one account, which others may hold for seconds. */
async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let left = 20; ; left--) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof HeldElsewhere) || left === 0) throw error
    }
  }
}

async function grant(api: TestApi, tenant: TestTenant, amount: number): Promise<string> {
  const got = await send(api, 'POST', '/wallets/grant', {
    key: tenant.secretKey,
    idempotencyKey: randomUUID(),
    body: { amount },
  })
  assert.equal(got.status, 201, got.text)
  return got.body.data.coupon
}

async function assertAgreement(api: TestApi, tenant: TestTenant, launched: number): Promise<void> {
  const { pool } = api.ctx.db
  const receipts = Map.groupBy(await sessionReceipts(api, tenant), ({ sub }) => sub)
  const told = new Map(
    (await pullEvents(api, tenant))
      .filter(({ type }) => type === 'session.stopped' || type === 'session.failed')
      .map(({ data }) => [data['session_id'], data['charged_credits']]),
  )
  const { rows } = await pool.query<SettledRow>(
    `select id, price, charged, budget::int, used::int, used_tokens::int as tokens, used_tool_calls::int as tool_calls,
       coalesce(json_array_length(budget_holds), 0) as shares
     from sessions where tenant_id = $1`,
    [tenant.id],
  )
  assert.deepEqual([rows.length, told.size], [launched, launched])
  for (const { id, price, charged, budget, used, tokens, tool_calls, shares } of rows) {
    assert.equal(told.get(id), charged, id)
    const of = receipts.get(id) ?? []
    assert.equal(of.length, (price > 0 ? 1 : 0) + shares, id)
    assert.equal(
      of.reduce((total, receipt) => total + receipt.charged, 0),
      charged,
      id,
    )
    assert.ok(charged === 0 || charged === price + Math.min(used, budget), id)
    assert.equal(used, Math.ceil((tokens * 3) / 1_000) + tool_calls * 2, id)
    if (budget > 0)
      for (const shown of of)
        assert.deepEqual([shown.budget, shown.used, shown.tokens, shown.tool_calls], [budget, used, tokens, tool_calls], id)
  }
  assert.ok(rows.some(({ charged, price }) => charged > price) && rows.some(({ budget, used }) => used > budget))
  const sum = rows.reduce((total, { charged }) => total + charged, 0)
  const captured = await pool.query<{ sum: number }>(
    `select coalesce(sum(amount), 0)::int as sum from ledger_transfers where kind = 'capture' and actor = $1`,
    [tenant.id],
  )
  assert.equal(captured.rows[0]!.sum, sum)
  const usage: { meter: string; quantity: number }[] = (await send(api, 'GET', '/usage', { key: tenant.secretKey })).body.data
  const quantity = (meter: string) => usage.find((row) => row.meter === meter)?.quantity ?? 0
  assert.deepEqual([quantity('credits'), quantity('launches')], [sum, launched])
  assert.deepEqual((await auditLedger(api.ctx.db)).findings, [])
}

interface SettledRow {
  id: string
  price: number
  charged: number
  budget: number
  used: number
  tokens: number
  tool_calls: number
  shares: number
}

interface Claims {
  sub: string
  charged: number
  budget?: number
  used?: number
  tokens?: number
  tool_calls?: number
}

async function sessionReceipts(api: TestApi, tenant: TestTenant): Promise<Claims[]> {
  const found: Claims[] = []
  for (let cursor = ''; ;) {
    const got = await send(api, 'GET', `/receipts?limit=200${cursor}`, { key: tenant.secretKey })
    assert.equal(got.status, 200, got.text)
    for (const { kind, receipt } of got.body.data)
      if (kind === 'session' || kind === 'budget') found.push(decodeJwt<Claims>(receipt))
    if (!got.body.meta?.next_cursor) return found
    cursor = `&cursor=${encodeURIComponent(got.body.meta.next_cursor)}`
  }
}
