import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { openDatabase, type Database } from '#db/database.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import {
  type AccountRef,
  type Movement,
  type MovementOutcome,
  issuerAccount,
  lossAccount,
  platformAccount,
  revenueAccount,
} from './movement.ts'
import { auditLedger } from './audit-store.ts'
import { type Ledger, openLedger, postMovements } from './ledger.ts'

const connections = 4
let database: TestDatabase
const dbs: Database[] = []
const ledgers: Ledger[] = []

before(async () => {
  database = await createTestDatabase()
  for (let i = 0; i < connections; i++) {
    dbs.push(openDatabase({ url: database.url, maxConnections: 2, onConnectionError: () => undefined }))
    ledgers.push(openLedger(dbs[i]!))
  }
})

after(async () => {
  for (const db of dbs) await db.close()
  await database.drop()
})

/** One random step: an action on an account; the numbers choose among what exists. */
interface Step {
  action: 'prefund' | 'redeem' | 'grant' | 'move' | 'hold' | 'capture' | 'release' | 'repeat' | 'reverse' | 'reinstate'
  connection: number
  batched: boolean
  from: number
  to: number
  amount: number
}

const step: fc.Arbitrary<Step> = fc.record({
  action: fc.constantFrom(
    'prefund',
    'redeem',
    'grant',
    'move',
    'hold',
    'hold',
    'capture',
    'capture',
    'release',
    'repeat',
    'reverse',
    'reinstate',
  ),
  connection: fc.nat(connections - 1),
  batched: fc.boolean(),
  from: fc.nat(1_000),
  to: fc.nat(1_000),
  amount: fc.integer({ min: 1, max: 60 }),
})

/** The simplest model of the books: numbers in maps, independent of the ledger's code. */
class Model {
  readonly balances = new Map<string, number>()
  readonly holds: { id: string; from: AccountRef; amount: number; open: boolean }[] = []
  readonly accounts: AccountRef[]
  readonly posted: Movement[] = []
  /** Of each account: the credits whose payment was returned, and what it owes of them. */
  readonly reversed = new Map<string, { credits: number; owed: number }>()

  constructor(tenant: string) {
    this.accounts = [issuerAccount(tenant)]
  }

  balance({ tenantId, id }: AccountRef): number {
    return this.balances.get(`${tenantId}/${id}`) ?? 0
  }

  add({ tenantId, id }: AccountRef, delta: number): void {
    this.balances.set(`${tenantId}/${id}`, this.balance({ tenantId, id }) + delta)
  }

  held(account: AccountRef): number {
    return this.holds.filter((h) => h.open && h.from.id === account.id).reduce((sum, h) => sum + h.amount, 0)
  }

  apply(movement: Movement): void {
    this.posted.push(movement)
    if (movement.type === 'transfer') {
      if (movement.from.id !== 'platform') this.add(movement.from, -movement.amountCredits)
      this.add(movement.to, movement.amountCredits)
      if (movement.opens) this.accounts.push(movement.to)
    } else if (movement.type === 'hold') {
      this.add(movement.from, -movement.amountCredits)
      this.holds.push({ id: movement.id, from: movement.from, amount: movement.amountCredits, open: true })
    } else if (movement.type === 'hold_end') {
      const hold = this.holds.find((h) => h.id === movement.id)!
      hold.open = false
      const captured = movement.capture?.amountCredits ?? 0
      if (movement.capture) this.add(movement.capture.to, captured)
      const returned = hold.amount - captured
      const paid = Math.min(returned, this.reversal(movement.from).owed)
      this.add(movement.from, returned - paid)
      this.reversal(movement.from).owed -= paid
      this.add(lossAccount(movement.from.tenantId), -paid)
    } else if (movement.type === 'reversal') {
      const taken = Math.min(this.balance(movement.from), movement.amountCredits)
      const lost = movement.amountCredits - taken
      this.add(movement.from, -taken)
      this.add(lossAccount(movement.actor), lost)
      this.reversal(movement.from).credits += movement.amountCredits
      this.reversal(movement.from).owed += lost
    } else if (movement.type === 'reinstatement') {
      const reversal = this.reversal(movement.to)
      const cancelled = Math.min(reversal.owed, movement.amountCredits)
      this.add(movement.to, movement.amountCredits - cancelled)
      this.add(lossAccount(movement.actor), -cancelled)
      reversal.credits -= movement.amountCredits
      reversal.owed -= cancelled
    }
  }

  reversal({ id }: AccountRef): { credits: number; owed: number } {
    const found = this.reversed.get(id) ?? { credits: 0, owed: 0 }
    this.reversed.set(id, found)
    return found
  }
}

let counter = 0

/** The movement of a step in the model's current state; undefined: nothing to apply it to. */
function movementOf(model: Model, tenant: string, { action, from: fromIndex, to: toIndex, amount }: Step): Movement | undefined {
  const id = `txn_${String(++counter).padStart(22, '0')}`
  const pick = (index: number) => model.accounts[index % model.accounts.length]!
  const fresh = { tenantId: tenant, id: `acc_${counter}` }
  const base = { type: 'transfer' as const, id, amountCredits: amount, actor: tenant }
  const opens = (kind: 'wallet' | 'coupon') => ({ kind, codeHash: Buffer.from(fresh.id.padEnd(32, tenant)) })
  const issuer = issuerAccount(tenant)
  if (action === 'prefund') return { ...base, kind: 'prefund', from: platformAccount, to: issuer }
  if (action === 'redeem') return { ...base, kind: 'redemption', from: issuer, to: fresh, opens: opens('wallet') }
  if (action === 'grant') return { ...base, kind: 'grant', from: pick(fromIndex), to: fresh, opens: opens('coupon') }
  if (action === 'repeat') return model.posted[fromIndex % Math.max(1, model.posted.length)]
  if (action === 'move') {
    const [from, to] = [pick(fromIndex), pick(toIndex)]
    return from === to ? undefined : { ...base, kind: 'fee', from, to }
  }
  if (action === 'hold') {
    const endsAt = new Date(Date.now() + 3_600_000).toISOString()
    return { type: 'hold', id, from: pick(fromIndex), amountCredits: amount, actor: tenant, endsAt, purpose: 'test' }
  }
  if (action === 'reverse' || action === 'reinstate') {
    const account = pick(fromIndex)
    const { credits } = model.reversal(account)
    const purpose = `chk_${account.id}`
    const moves = { id, actor: tenant, purpose }
    if (action === 'reverse')
      return { ...moves, type: 'reversal', from: account, amountCredits: amount, totalCredits: credits + amount }
    const amountCredits = Math.min(amount, credits)
    return amountCredits === 0
      ? undefined
      : { ...moves, type: 'reinstatement', from: platformAccount, to: account, amountCredits }
  }
  const hold = model.holds[fromIndex % Math.max(1, model.holds.length)]
  if (!hold) return undefined
  const end = { type: 'hold_end' as const, id: hold.id, from: hold.from, actor: tenant }
  if (action === 'release') return { ...end, outcome: 'released' }
  return { ...end, outcome: 'captured', capture: { to: revenueAccount(tenant), amountCredits: Math.min(amount, hold.amount) } }
}

async function post({ connection, batched }: Step, movement: Movement): Promise<MovementOutcome> {
  if (batched) return ledgers[connection]!.add(movement)
  const [outcome] = await dbs[connection]!.transaction((tx) => postMovements(tx, [movement]))
  return outcome!
}

/**
 * What may be refused depends on who came first: a refusal is right if the account could have been short at some
 * moment of the round.
 */
function assertRefusalRight(movement: Movement, before: Map<string, number>, posted: Movement[]): void {
  if (movement.type !== 'transfer' && movement.type !== 'hold') assert.fail(`a ${movement.type} was refused as insufficient`)
  const key = `${movement.from.tenantId}/${movement.from.id}`
  const spent = posted
    .filter((other) => other.type === 'transfer' || other.type === 'hold')
    .filter((other) => other.from.id === movement.from.id)
    .reduce((sum, other) => sum + other.amountCredits, 0)
  const least = (before.get(key) ?? 0) - spent
  assert.ok(least < movement.amountCredits, `${movement.amountCredits} were refused although at least ${least} were there`)
}

async function readBalances(tenant: string): Promise<Map<string, number>> {
  const { rows } = await dbs[0]!.pool.query<{ id: string; balance: number }>(
    'select id, balance from ledger_accounts where tenant_id = $1 and balance > 0',
    [tenant],
  )
  return new Map(rows.map((row) => [`${tenant}/${row.id}`, row.balance]))
}

async function assertSame(model: Model, tenant: string): Promise<void> {
  const expected = new Map([...model.balances].filter(([, balance]) => balance !== 0))
  for (const account of model.accounts) {
    const held = model.held(account)
    if (held > 0) expected.set(`${tenant}/${account.id}.held`, held)
  }
  assert.deepEqual(await readBalances(tenant), expected)
  assert.deepEqual((await auditLedger(dbs[1]!)).findings, [])
}

test('random concurrent movements leave what the model predicts, and sound books after every round', async (t) => {
  let movements = 0
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 5, maxLength: 30 }),
      async (rounds) => {
        const tenant = `ten_${String(++run).padStart(22, '0')}`
        const model = new Model(tenant)
        model.apply({
          type: 'transfer',
          id: `txn_start${run}`,
          kind: 'prefund',
          from: platformAccount,
          to: issuerAccount(tenant),
          amountCredits: 100,
          actor: tenant,
        })
        await dbs[0]!.transaction((tx) => postMovements(tx, model.posted))
        for (const round of rounds) {
          const before = new Map(model.balances)
          const wasPosted = new Set(model.posted.map((movement) => movement.type + movement.id))
          // How much a reversal takes depends on what came before it.
          const inOrder = round.filter(({ action }) => action === 'reverse' || action === 'reinstate')
          const planned = round
            .filter((one) => !inOrder.includes(one))
            .map((one) => ({ one, movement: movementOf(model, tenant, one) }))
            .filter((plan): plan is { one: Step; movement: Movement } => plan.movement !== undefined)
          const outcomes = await Promise.all(planned.map(({ one, movement }) => post(one, movement)))
          const posted = planned.filter((_, i) => outcomes[i] === 'posted').map(({ movement }) => movement)
          for (const [i, { movement }] of planned.entries()) {
            const outcome = outcomes[i]!
            movements++
            if (outcome === 'insufficient') assertRefusalRight(movement, before, posted)
            if (outcome === 'repeated') {
              const first = posted.find((other) => other.type === movement.type && other.id === movement.id)
              const ended = movement.type === 'hold_end' && !model.holds.find((hold) => hold.id === movement.id)!.open
              assert.ok(first ?? (ended || wasPosted.has(movement.type + movement.id)), 'what was called a repeat was none')
            }
            assert.ok(outcome !== 'unknown_hold' && outcome !== 'claim_taken', outcome)
          }
          const once = new Set(posted.map((movement) => movement.type + movement.id))
          assert.equal(once.size, posted.length, 'the same movement was posted twice')
          for (const movement of posted) model.apply(movement)
          for (const one of inOrder) {
            const movement = movementOf(model, tenant, one)
            if (!movement) continue
            assert.equal(await post(one, movement), 'posted')
            model.apply(movement)
          }
          await assertSame(model, tenant)
        }
      },
    ),
    { numRuns: Number(process.env['LEDGER_RUNS'] ?? 80) },
  )
  t.diagnostic(`${movements} movements in ${run} runs`)
  assert.ok(movements > 2_000)
})
