import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDatabase, type Database } from '../../packages/server/src/db/database.ts'
import {
  type Movement,
  issuerAccount,
  platformAccount,
  revenueAccount,
  transactionId,
} from '../../packages/server/src/features/credits/ledger/movement.ts'
import { auditLedger } from '../../packages/server/src/features/credits/ledger/audit-store.ts'
import { openLedger } from '../../packages/server/src/features/credits/ledger/ledger.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'

const tenant = 'ten_crash'
const issuer = issuerAccount(tenant)
let database: TestDatabase
let proxy: PostgresProxy
let db: Database
let count = 0

before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  db = openDatabase({ url: database.url, maxConnections: 2, onConnectionError: () => undefined })
  const id = transactionId('start')
  await direct({
    type: 'transfer',
    id,
    kind: 'prefund',
    from: platformAccount,
    to: issuer,
    amountCredits: 100_000,
    actor: tenant,
  })
})

after(async () => {
  await db.close()
  await proxy.close()
  await database.drop()
})

const direct = (movement: Movement) => openLedger(db).add(movement)
const later = () => new Date(Date.now() + 3_600_000).toISOString()

function transfer(kind: 'redemption' | 'grant', expiresAt?: string): Extract<Movement, { type: 'transfer' }> {
  const mark = String(++count)
  const codeHash = createHash('sha256').update(mark).digest()
  const opens = {
    kind: kind === 'grant' ? ('coupon' as const) : ('wallet' as const),
    codeHash,
    ...(expiresAt ? { expiresAt } : {}),
  }
  const to = { tenantId: tenant, id: `acc_${mark}` }
  const recovery = { thumbprint: 'thumbprint', sealedCode: mark }
  return {
    type: 'transfer',
    id: transactionId('test', mark),
    kind,
    from: issuer,
    to,
    amountCredits: 10,
    actor: tenant,
    opens,
    recovery,
  }
}

async function held() {
  const coupon = transfer('grant')
  await direct(coupon)
  const hold = {
    type: 'hold' as const,
    id: transactionId('hold', coupon.id),
    from: coupon.to,
    amountCredits: 8,
    actor: tenant,
    endsAt: later(),
    purpose: 'test',
  }
  await direct(hold)
  return { type: 'hold_end' as const, id: hold.id, from: coupon.to, actor: tenant }
}

/** Each movement, and the balances after it was made once. */
const movements: Record<string, () => Promise<{ movement: Movement; leaves: Record<string, number> }>> = {
  redeem: async () => {
    const movement = transfer('redemption')
    return { movement, leaves: { [movement.to.id]: 10 } }
  },
  grant: async () => {
    const movement = transfer('grant', later())
    return { movement, leaves: { [movement.to.id]: 10 } }
  },
  hold: async () => {
    const coupon = transfer('grant')
    await direct(coupon)
    const id = transactionId('hold', coupon.id)
    const movement = {
      type: 'hold' as const,
      id,
      from: coupon.to,
      amountCredits: 8,
      actor: tenant,
      endsAt: later(),
      purpose: 'test',
    }
    return { movement, leaves: { [coupon.to.id]: 2, [`${coupon.to.id}.held`]: 8 } }
  },
  capture: async () => {
    const end = await held()
    const seller = revenueAccount(`ten_seller_${count}`)
    const movement = { ...end, outcome: 'captured' as const, capture: { to: seller, amountCredits: 5 } }
    return { movement, leaves: { [end.from.id]: 5, [`${end.from.id}.held`]: 0 } }
  },
  release: async () => {
    const end = await held()
    return { movement: { ...end, outcome: 'released' }, leaves: { [end.from.id]: 10, [`${end.from.id}.held`]: 0 } }
  },
  expire: async () => {
    const end = await held()
    return { movement: { ...end, outcome: 'expired' }, leaves: { [end.from.id]: 10, [`${end.from.id}.held`]: 0 } }
  },
}

const script = fileURLToPath(new URL('../support/move-credits.ts', import.meta.url))

function startMover(url: string): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [script, url], { stdio: ['pipe', 'pipe', 'pipe'] })
}

function tell(mover: ChildProcessWithoutNullStreams, movement: Movement): void {
  const hex = (_: string, value: unknown) =>
    (value as { type?: string } | null)?.type === 'Buffer'
      ? Buffer.from((value as { data: number[] }).data).toString('hex')
      : value
  mover.stdin.write(`${JSON.stringify(movement, hex)}\n`)
}

async function moveOnce(movement: Movement): Promise<string> {
  const mover = startMover(proxy.url)
  tell(mover, movement)
  mover.stdin.end()
  for await (const line of createInterface({ input: mover.stdout })) return line
  throw new Error('the mover said nothing')
}

async function assertLeft(point: string, leaves: Record<string, number>): Promise<void> {
  for (const [id, balance] of Object.entries(leaves)) {
    const { rows } = await db.pool.query<{ balance: number }>('select balance from ledger_accounts where id = $1', [id])
    assert.equal(rows[0]?.balance ?? 0, balance, `${point}: ${id}`)
  }
  assert.deepEqual((await auditLedger(db)).findings, [], point)
}

test('a kill before or after any statement of a movement leaves sound books, and a retry finds its own trace', async (t) => {
  let points = 0
  for (const [name, prepare] of Object.entries(movements)) {
    const first = await prepare()
    proxy.takeStatements()
    assert.equal(await moveOnce(first.movement), 'posted')
    const statements = proxy.takeStatements()
    assert.equal(statements.at(-1), 'commit', name)
    await assertLeft(name, first.leaves)
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth <= statements.length; nth++) {
        const point = `${name} killed ${when} statement ${nth}`
        const { movement, leaves } = await prepare()
        const stands = proxy.hold({ nth, when })
        const mover = startMover(proxy.url)
        tell(mover, movement)
        assert.equal(await stands, statements[nth - 1], point)
        const exit = once(mover, 'exit')
        mover.kill('SIGKILL')
        await exit
        proxy.release()
        assert.deepEqual((await auditLedger(db)).findings, [], point)
        const committed = when === 'after' && nth === statements.length
        assert.equal(await moveOnce(movement), committed ? 'repeated' : 'posted', point)
        await assertLeft(point, leaves)
        points++
      }
    }
  }
  t.diagnostic(`${points} kill points`)
  assert.ok(points >= 40)
})
