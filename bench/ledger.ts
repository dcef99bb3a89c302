// Compares movements of the ledger with a plain transaction of pg, in one run: node bench/ledger.ts [rounds]
// [seconds]. The floor is the simplest code: begin, two row updates and commit, each on a connection of a pool. It
// has no transfer row, no idempotency, and no check except balance >= 0. Both have 64 concurrent callers.
import { required } from '@atrium/contract/required'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'pg'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import {
  type AccountRef,
  issuerAccount,
  platformAccount,
  transactionId,
} from '../packages/server/src/features/credits/ledger/movement.ts'
import { auditLedger } from '../packages/server/src/features/credits/ledger/audit-store.ts'
import { openLedger } from '../packages/server/src/features/credits/ledger/ledger.ts'
import { median } from './goals.ts'

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number)
const callers = 64
const accounts = 1_000
const tenant = 'ten_bench'

const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-bench-'))
chmodSync(folder, 0o711)
const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
const pool = new Pool({ connectionString: postgres.connectionString, max: 20 })
const db = openDatabase({ url: postgres.connectionString, maxConnections: 20, onConnectionError: () => undefined })
const ledger = openLedger(db)
let seed = 1
let last = -1
try {
  await bench()
} finally {
  await pool.end()
  await db.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function bench(): Promise<void> {
  await migrate(db.pool)
  await pool.query(
    'create table floor_accounts (id integer primary key, balance bigint not null check (balance >= 0)) with (fillfactor = 70)',
  )
  await pool.query('insert into floor_accounts select n, 1000000000 from generate_series(0, $1) n', [accounts])
  const wallets = await fillLedger()
  const hot = issuerAccount(tenant)
  let n = 0
  const move = (from: AccountRef, to: AccountRef) =>
    ledger.add({
      type: 'transfer',
      id: transactionId('bench', String(++n)),
      kind: 'fee',
      from,
      to,
      amountCredits: 1,
      actor: tenant,
    })
  const targets: Record<string, () => Promise<unknown>> = {
    'floor: 1,000 accounts': () => floorMove(random(), random()),
    'ledger: 1,000 wallets': () => move(anyOf(wallets), anyOf(wallets)),
    'floor: one hot account': () => floorMove(accounts, random()),
    'ledger: one hot account': () => move(hot, anyOf(wallets)),
  }
  const rates = new Map<string, number[]>(Object.keys(targets).map((name) => [name, []]))
  for (const run of Object.values(targets)) await measure(run, 1)
  for (let round = 0; round < rounds; round++)
    for (const [name, run] of Object.entries(targets)) rates.get(name)?.push(await measure(run, seconds))
  const medians = [...rates].map(([name, values]) => [name, median(values)] as const)
  for (const [name, rate] of medians) console.log(`${name.padEnd(28)}${Math.round(rate).toLocaleString('en').padStart(8)}/s`)
  const [plain = 0, many = 0, plainHot = 0, one = 0] = medians.map(([, rate]) => rate)
  console.log(`\n1,000 wallets: ${(many / plain).toFixed(2)} × the floor (goal 0.6)`)
  console.log(`one hot account: ${(one / plainHot).toFixed(2)} × the floor (goal 2)`)
  const { findings, transfers } = await auditLedger(db)
  console.log(`books after ${transfers.toLocaleString('en')} transfers: ${findings.length} findings`)
}

async function fillLedger(): Promise<AccountRef[]> {
  const wallets = Array.from({ length: accounts }, (_, n) => ({ tenantId: tenant, id: `acc_${n}` }))
  const hot = issuerAccount(tenant)
  const base = { type: 'transfer' as const, actor: tenant }
  await ledger.add({ ...base, id: transactionId('fill'), kind: 'prefund', from: platformAccount, to: hot, amountCredits: 2e12 })
  await Promise.all(
    wallets.map((to, n) => {
      const opens = { kind: 'wallet' as const, codeHash: Buffer.from(String(n).padStart(32, '0')) }
      return ledger.add({
        ...base,
        id: transactionId('fill', String(n)),
        kind: 'redemption',
        from: hot,
        to,
        amountCredits: 1e9,
        opens,
      })
    }),
  )
  return wallets
}

/** The same accounts in every run, and never the same account as source and destination. */
function random(): number {
  let next
  do next = Math.imul((seed = (seed + 0x9e3779b9) | 0) ^ (seed >>> 15), 0x85ebca6b) >>> 0
  while (next % accounts === last)
  return (last = next % accounts)
}

async function floorMove(from: number, to: number): Promise<void> {
  const client = await pool.connect()
  // Locked in the order of their ids, so that two transactions do not deadlock.
  const updates = [
    { id: from, delta: -1 },
    { id: to, delta: 1 },
  ].toSorted((a, b) => a.id - b.id)
  try {
    await client.query('begin')
    for (const { id, delta } of updates)
      await client.query({
        name: 'move',
        text: 'update floor_accounts set balance = balance + $2 where id = $1',
        values: [id, delta],
      })
    await client.query('commit')
  } finally {
    client.release()
  }
}

/** Moves a second, with all callers at once. */
async function measure(run: () => Promise<unknown>, forSeconds: number): Promise<number> {
  const startedAt = performance.now()
  const endAt = startedAt + forSeconds * 1_000
  let done = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endAt) {
        await run()
        done++
      }
    }),
  )
  return (done / (performance.now() - startedAt)) * 1_000
}

function anyOf(wallets: readonly AccountRef[]): AccountRef {
  return required(wallets[random()], 'there is a wallet for each account')
}
