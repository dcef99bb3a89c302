import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openDatabase, type Database } from '#db/database.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import {
  type Hold,
  type Transfer,
  heldAccount,
  issuerAccount,
  platformAccount,
  revenueAccount,
  transactionId,
} from './movement.ts'
import { auditLedger } from './audit-store.ts'
import { type Ledger, openLedger, postMovements, sweepLedger } from './ledger.ts'

const tenant = 'ten_store'
const issuer = issuerAccount(tenant)
let database: TestDatabase
let db: Database
let ledger: Ledger
let counter = 0

before(async () => {
  database = await createTestDatabase()
  db = openDatabase({ url: database.url, maxConnections: 4, onConnectionError: () => undefined })
  ledger = openLedger(db)
  await ledger.add(prefund(10_000))
})

after(async () => {
  await db.close()
  await database.drop()
})

function prefund(amountCredits: number): Transfer {
  const id = transactionId('test', String(++counter))
  return { type: 'transfer', id, kind: 'prefund', from: platformAccount, to: issuer, amountCredits, actor: tenant }
}

async function openCoupon(amountCredits: number, expiresAt?: string, from = issuer) {
  const account = { tenantId: tenant, id: `acc_${++counter}` }
  const opens = { kind: 'coupon' as const, codeHash: Buffer.alloc(32, counter), ...(expiresAt ? { expiresAt } : {}) }
  const id = transactionId('test', String(counter))
  const granted = {
    type: 'transfer' as const,
    id,
    kind: 'grant' as const,
    from,
    to: account,
    amountCredits,
    actor: tenant,
    opens,
  }
  assert.equal(await ledger.add(granted), 'posted')
  return account
}

async function placeHold(from: Hold['from'], amountCredits: number, endsAt: string): Promise<Hold> {
  const hold: Hold = {
    type: 'hold',
    id: transactionId('test', String(++counter)),
    from,
    amountCredits,
    actor: tenant,
    endsAt,
    purpose: 'test',
  }
  assert.equal(await ledger.add(hold), 'posted')
  return hold
}

async function balanceOf({ tenantId, id }: { tenantId: string; id: string }): Promise<number> {
  const { rows } = await db.pool.query<{ balance: number }>(
    'select balance from ledger_accounts where tenant_id = $1 and id = $2',
    [tenantId, id],
  )
  return rows[0]?.balance ?? 0
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const inAnHour = () => inMs(3_600_000)
const soon = () => inMs(40)
/** Far enough for a busy machine to make what expires then. letAMinutePass brings it. */
const inAMinute = (moreMs = 0) => inMs(60_000 + moreMs)

/** For what expires within three minutes. */
async function letAMinutePass(): Promise<void> {
  const client = await db.pool.connect()
  const move = (table: string, column: string) =>
    `update ${table} set ${column} = ${column} - interval '1 minute' where ${column} > now() and ${column} < now() + interval '3 minutes'`
  try {
    await client.query(`begin; set local session_replication_role = replica; ${move('ledger_accounts', 'expires_at')};
      ${move('ledger_holds', 'ends_at')}; ${move('ledger_due', 'due_at')}; commit`)
  } finally {
    client.release()
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await holds())) assert.ok(Date.now() < deadline, 'it did not come to pass')
}

const countOf = async (sql: string, values: unknown[]) => (await db.pool.query<{ n: number }>(sql, values)).rows[0]!.n
const dueRows = (id: string) => countOf('select count(*)::integer as n from ledger_due where id = $1', [id])
const overdueRows = () => countOf('select count(*)::integer as n from ledger_due where due_at <= now()', [])

/** The audit without the grace for what has ended by now. */
async function assertSoundLater(): Promise<void> {
  const client = await db.pool.connect()
  try {
    await client.query(`begin; set local session_replication_role = replica;
      update ledger_accounts set expires_at = expires_at - interval '1 hour' where expires_at <= now();
      update ledger_holds set ends_at = ends_at - interval '1 hour' where ends_at <= now()`)
    const query = async (stmt: { text: string }, values: unknown[]) => (await client.query(stmt.text, values)).rows
    assert.deepEqual((await auditLedger({ query } as never)).findings, [])
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const sweep = () => sweepLedger(db, ledger, 1_000)

describe('the store refuses, for every writer', () => {
  const refusals: [name: string, sql: string, constraint: RegExp][] = [
    ['a changed transfer', 'update ledger_transfers set amount = amount + 1', /only added to/],
    ['a deleted transfer', 'delete from ledger_transfers', /only added to/],
    ['emptied books', 'truncate ledger_transfers', /only added to/],
    ['a changed hold', 'update ledger_holds set amount = 1', /only added to/],
    ['a deleted account', 'delete from ledger_accounts', /only added to/],
    ['a balance set by hand', "update ledger_accounts set balance = balance + 5 where id = 'issuer'", /only added to/],
    [
      'an account that begins with credits',
      "insert into ledger_accounts (tenant_id, id, kind, balance) values ('t', 'issuer', 'issuer', 5)",
      /only added to/,
    ],
    ['more than there is', transferSql('issuer', 'revenue', 1_000_000), /balance_not_negative/],
    ['a negative amount', transferSql('issuer', 'revenue', -5), /amount_positive/],
    ['nothing at all', transferSql('issuer', 'revenue', 0), /amount_positive/],
    ['a transfer to itself', transferSql('issuer', 'issuer', 5), /two_accounts/],
    ['a transfer to nowhere', transferSql('issuer', 'acc_nobody', 5), /does not exist/],
    ['a transfer from nowhere', transferSql('acc_nobody', 'issuer', 5), /does not exist/],
    ['a kind that is not known', "insert into ledger_accounts (tenant_id, id, kind) values ('t', 'x', 'treasure')", /kind_known/],
  ]
  for (const [name, sql, reason] of refusals) {
    test(name, async () => {
      await ledger.add({ ...prefund(1), to: revenueAccount(tenant) })
      await assert.rejects(db.pool.query(sql), reason)
    })
  }

  function transferSql(from: string, to: string, amount: number): string {
    return `insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor)
      values ('${tenant}', 'txn_by_hand', 'fee', '${from}', '${tenant}', '${to}', ${amount}, '${tenant}')`
  }

  test('a hold that ends a second time', async () => {
    const coupon = await openCoupon(10)
    const hold = await placeHold(coupon, 10, inAnHour())
    const end = { type: 'hold_end' as const, id: hold.id, from: coupon, actor: tenant, outcome: 'released' as const }
    assert.equal(await ledger.add(end), 'posted')
    const again = `insert into ledger_hold_ends (tenant_id, id, outcome, captured) values ('${tenant}', '${hold.id}', 'expired', 0)`
    await assert.rejects(db.pool.query(again), /ledger_hold_ends_pkey/)
    assert.equal(await ledger.add(end), 'repeated')
    assert.equal(await balanceOf(coupon), 10)
  })
})

describe('holds', () => {
  test('a hold captured in part gives the rest back', async () => {
    const coupon = await openCoupon(10)
    const earned = await balanceOf(revenueAccount('ten_seller'))
    const hold = await placeHold(coupon, 8, inAnHour())
    assert.deepEqual([await balanceOf(coupon), await balanceOf(heldAccount(coupon))], [2, 8])
    const capture = { to: revenueAccount('ten_seller'), amountCredits: 3 }
    assert.equal(
      await ledger.add({ type: 'hold_end', id: hold.id, from: coupon, actor: tenant, outcome: 'captured', capture }),
      'posted',
    )
    assert.deepEqual([await balanceOf(coupon), await balanceOf(heldAccount(coupon))], [7, 0])
    assert.equal(await balanceOf(revenueAccount('ten_seller')), earned + 3)
  })

  test('more than was held cannot be captured, and the hold stays', async () => {
    const coupon = await openCoupon(10)
    const hold = await placeHold(coupon, 8, inAnHour())
    const capture = { to: revenueAccount('ten_seller'), amountCredits: 9 }
    const end = { type: 'hold_end' as const, id: hold.id, from: coupon, actor: tenant, outcome: 'captured' as const, capture }
    assert.equal(await ledger.add(end), 'unknown_hold')
    assert.equal(await balanceOf(heldAccount(coupon)), 8)
  })

  test('of 50 concurrent holds on an account that covers 20 exactly 20 succeed', async () => {
    const coupon = await openCoupon(20)
    const holds = Array.from({ length: 50 }, (): Hold => {
      const id = transactionId('test', String(++counter))
      return { type: 'hold', id, from: coupon, amountCredits: 1, actor: tenant, endsAt: inAnHour(), purpose: 'test' }
    })
    // Half through the batcher, the other half each in its own transaction.
    const one = (hold: Hold) => db.transaction(async (tx) => (await postMovements(tx, [hold]))[0])
    const outcomes = await Promise.all(holds.map((hold, i) => (i % 2 ? ledger.add(hold) : one(hold))))
    assert.equal(outcomes.filter((outcome) => outcome === 'posted').length, 20)
    assert.equal(outcomes.filter((outcome) => outcome === 'insufficient').length, 30)
  })

  test('a hold that is never ended is released when it expires', async () => {
    const coupon = await openCoupon(10)
    await placeHold(coupon, 10, soon())
    await until(async () => (await sweep(), (await balanceOf(coupon)) === 10))
    assert.equal(await balanceOf(heldAccount(coupon)), 0)
  })
})

describe('coupons', () => {
  test('an expired coupon pays nothing, before and after its rest has returned to its origin', async () => {
    const before = await balanceOf(issuer)
    const coupon = await openCoupon(10, soon())
    const hold: Hold = {
      type: 'hold',
      id: transactionId('late'),
      from: coupon,
      amountCredits: 1,
      actor: tenant,
      endsAt: inAnHour(),
      purpose: 'test',
    }
    const expired = 'select count(*)::integer as n from ledger_accounts where id = $1 and expires_at <= now()'
    await until(async () => (await countOf(expired, [coupon.id])) === 1)
    assert.deepEqual([await ledger.add(hold), await balanceOf(coupon)], ['insufficient', 10])
    await until(async () => (await sweep(), (await balanceOf(issuer)) === before))
    assert.deepEqual([await ledger.add(hold), await balanceOf(coupon)], ['insufficient', 0])
  })

  test('a coupon that has not expired returns nothing, and stays due', async () => {
    const coupon = await openCoupon(10, inAnHour())
    const early = { type: 'return' as const, id: transactionId('early'), from: coupon, to: issuer }
    assert.deepEqual([await ledger.add(early), await balanceOf(coupon), await dueRows(coupon.id)], ['repeated', 10, 1])
  })

  test('a coupon that expires during a hold returns the held credits too when the hold is released', async () => {
    const before = await balanceOf(issuer)
    const coupon = await openCoupon(10, inAMinute())
    const hold = await placeHold(coupon, 6, inAnHour())
    await letAMinutePass()
    await until(async () => (await sweep(), (await balanceOf(coupon)) === 0))
    assert.equal(await balanceOf(issuer), before - 6)
    await ledger.add({ type: 'hold_end', id: hold.id, from: coupon, actor: tenant, outcome: 'released' })
    await until(async () => (await sweep(), (await balanceOf(issuer)) === before))
  })

  test('a coupon that expires in the same sweep as its hold returns both', async () => {
    const before = await balanceOf(issuer)
    const coupon = await openCoupon(10, inAMinute())
    // Later than the expiry, so that the return comes first in the batch.
    await placeHold(coupon, 6, inAMinute(50))
    await letAMinutePass()
    await until(async () => (await overdueRows()) >= 2)
    await sweep()
    await sweep()
    assert.deepEqual([await balanceOf(coupon), await balanceOf(heldAccount(coupon)), await balanceOf(issuer)], [0, 0, before])
    await sweep()
    assert.equal(await dueRows(coupon.id), 0, 'the sweeper is done with it')
    await assertSoundLater()
  })

  test("a coupon granted from another returns its rest to the other's origin, whichever expires first", async () => {
    const before = await balanceOf(issuer)
    for (const [outer, inner] of [
      [0, 40],
      [40, 0],
      [0, 0],
    ] as const) {
      const madeAt = Date.now()
      const at = (ms: number) => inAMinute(ms - (Date.now() - madeAt))
      const parent = await openCoupon(10, at(outer))
      const child = await openCoupon(7, at(inner), parent)
      const grandchild = await openCoupon(3, at(inner), child)
      await letAMinutePass()
      await until(async () => (await overdueRows()) >= 3)
      for (let i = 0; i < 3; i++) await sweep()
      const left = await Promise.all([parent, child, grandchild].map(balanceOf))
      assert.deepEqual([...left, await balanceOf(issuer)], [0, 0, 0, before], `${outer} and ${inner} ms later`)
      await sweep()
      assert.deepEqual(await Promise.all([parent, child, grandchild].map(({ id }) => dueRows(id))), [0, 0, 0])
    }
    await assertSoundLater()
  })

  test('credits that return to a coupon long after its rest did follow the rest', async () => {
    const before = await balanceOf(issuer)
    const parent = await openCoupon(10, inAMinute())
    const child = await openCoupon(7, inAMinute(60_000), parent)
    await letAMinutePass()
    await until(async () => (await sweep(), (await balanceOf(parent)) === 0))
    assert.deepEqual([await balanceOf(issuer), await dueRows(parent.id)], [before - 7, 0])
    await letAMinutePass()
    await until(async () => (await sweep(), (await balanceOf(child)) === 0))
    await sweep()
    assert.deepEqual([await balanceOf(parent), await balanceOf(issuer)], [0, before])
    await assertSoundLater()
  })

  test('concurrent sweepers return the rest once', async () => {
    const before = await balanceOf(issuer)
    const coupons = await Promise.all(Array.from({ length: 20 }, () => openCoupon(5, soon())))
    await until(async () => (await Promise.all([sweep(), sweep(), sweep()]), (await balanceOf(issuer)) === before))
    assert.equal(await balanceOf(coupons[0]!), 0)
  })
})

describe('a movement that was decided before', () => {
  test('is known by the transfer that pays what was owed, so that a payment that came back comes back once', async () => {
    const account = await openCoupon(10)
    await placeHold(account, 10, inAnHour())
    const [id, back] = [transactionId('reversed'), transactionId('reinstated')]
    const common = { amountCredits: 4, actor: tenant, purpose: 'chk_test' }
    assert.equal(await ledger.add({ type: 'reversal', id, from: account, totalCredits: 4, ...common }), 'posted')
    const reinstatement = { type: 'reinstatement' as const, id: back, from: platformAccount, to: account, ...common }
    assert.deepEqual([await ledger.add(reinstatement), await ledger.add(reinstatement)], ['posted', 'repeated'])
    assert.equal(await balanceOf(account), 0, 'all of it was owed')
  })

  test('and then could not be posted leaves its Idempotency-Key free', async () => {
    const poor = issuerAccount('ten_poor')
    const claimOf = (name: string) => ({
      scope: tenant,
      keyHash: Buffer.alloc(32, name),
      bodyHash: Buffer.alloc(32),
      expiresAt: inAnHour(),
      answer: Buffer.from(name),
    })
    const transfer = { type: 'transfer' as const, kind: 'prefund' as const, amountCredits: 5, actor: tenant }
    const paid = { ...transfer, from: platformAccount, to: poor, claim: claimOf('taken') }
    assert.equal(await ledger.add({ ...paid, id: transactionId('claimed first') }), 'posted')
    const spend = { ...transfer, kind: 'fee' as const, amountCredits: 8, from: poor, to: issuer }
    const outcomes = await Promise.all([
      ledger.add({ ...paid, id: transactionId('claimed again') }),
      ledger.add({ ...spend, id: transactionId('uncovered'), claim: claimOf('free') }),
    ])
    assert.deepEqual(outcomes, ['claim_taken', 'insufficient'])
    const kept = 'select count(*)::integer as n from idempotency_keys where scope = $1 and key_hash = any ($2)'
    assert.equal(await countOf(kept, [tenant, [claimOf('taken').keyHash, claimOf('free').keyHash]]), 1)
  })
})

describe('the audit', () => {
  test('finds nothing wrong after all this', async () => {
    const report = await auditLedger(db)
    assert.deepEqual(report.findings, [])
    assert.ok(report.transfers > 50 && report.credits > 10_000)
  })

  const damages: [rule: string, sql: string][] = [
    ['balance is the sum of its rows', "update ledger_accounts set balance = balance + 1 where id = 'issuer'"],
    ['debits equal credits', "update ledger_accounts set balance = balance + 1 where id = 'issuer'"],
    [
      'balance is the sum of its rows',
      'update ledger_transfers set amount = amount + 1 where id = (select min(id) from ledger_transfers)',
    ],
    [
      'held is the sum of open holds',
      'update ledger_holds set amount = amount + 1 where id = (select min(h.id) from ledger_holds h where not exists (select from ledger_hold_ends e where e.id = h.id))',
    ],
    ['no hold is past its end', "update ledger_holds set ends_at = now() - interval '1 hour'"],
    ['no hold captured more than it held', "update ledger_hold_ends set captured = 100 where outcome = 'captured'"],
  ]
  for (const [rule, sql] of damages) {
    test(`sees: ${rule}`, async () => {
      const client = await db.pool.connect()
      try {
        // Rolled back, so that only this connection sees the damage.
        await client.query(`begin; set local session_replication_role = replica; ${sql}`)
        const query = async (stmt: { text: string }, values: unknown[]) => (await client.query(stmt.text, values)).rows
        const { findings } = await auditLedger({ query } as never)
        assert.ok(
          findings.some((finding) => finding.rule === rule),
          JSON.stringify(findings),
        )
      } finally {
        await client.query('rollback')
        client.release()
      }
    })
  }
})
