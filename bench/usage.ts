// Measures the rows that usage writes a second, with simulated tenants: node bench/usage.ts [seconds]. 10,000 tenants are
// active on 20 processes at the same time. Each process is a UsageCounter, with a connection of its own, and counts every
// tenant in each period of 10 s. The output has the mean, median and highest number of rows a second, and the
// processor time of PostgreSQL.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase, type Database } from '../packages/server/src/db/database.ts'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { Metrics } from '../packages/server/src/http/metrics.ts'
import { UsageCounter } from '../packages/server/src/features/usage/usage-counter.ts'
import { median } from './goals.ts'
import { processorTimeOf } from './processor-time.ts'

const [seconds = 120] = process.argv.slice(2).map(Number)
const processCount = 20
const tenantCount = 10_000
/** Every tenant is counted again within this time. */
const periodMs = 10_000

const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-bench-'))
chmodSync(folder, 0o711)
const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
const open = (): Database =>
  openDatabase({ url: postgres.connectionString, maxConnections: 1, onConnectionError: () => undefined })
const databases = Array.from({ length: processCount }, open)
const counters: UsageCounter[] = []
const watcher = open()
try {
  await migrate(watcher.pool)
  const tenants = Array.from({ length: tenantCount }, (_, i) => `ten_${String(i).padStart(22, '0')}`)
  await watcher.pool.query("insert into tenants (id, name) select t, 'bench' from unnest($1::text[]) t", [tenants])
  let failures = 0
  for (const db of databases)
    counters.push(new UsageCounter({ db, registry: new Metrics(db, 'worker').registry, onError: () => failures++ }))
  const active = tenants.flatMap((tenant) => counters.map((counter) => ({ tenant, counter })))
  let next = 0
  const count = setInterval(() => {
    for (let i = 0; i < active.length / (periodMs / 100); i++, next++) {
      const of = active[next % active.length]
      of?.counter.answered(of.tenant, 300)
    }
  }, 100)
  // In the first minute, the writes catch up with counts that began at the same time.
  await delay(60_000)
  const perSecond: number[] = []
  const before = processorTimeOf(folder) ?? 0
  let rows = await writtenRows()
  for (let i = 0; i < seconds; i++) {
    await delay(1_000)
    const now = await writtenRows()
    perSecond.push(now - rows)
    rows = now
  }
  const usedMs = ((processorTimeOf(folder) ?? 0) - before) / 1_000
  clearInterval(count)
  const total = perSecond.reduce((sum, one) => sum + one, 0)
  console.log(
    `${tenantCount} tenants, ${processCount} processes, ${seconds} s: rows a second ${Math.round(total / seconds)} (mean), ` +
      `${median(perSecond)} (median), ${Math.max(...perSecond)} (highest); PostgreSQL used ${(usedMs / seconds / 10).toFixed(0)} % of a core; ` +
      `failed writes: ${failures}`,
  )
} finally {
  await Promise.all(counters.map((counter) => counter.close()))
  await Promise.all([...databases, watcher].map((db) => db.close()))
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** The rows that statements have inserted or updated. Requests do not show this number: a row counts many of them. */
async function writtenRows(): Promise<number> {
  const { rows: found } = await watcher.pool.query<{ written: number }>(
    "select (n_tup_ins + n_tup_upd)::float8 as written from pg_stat_user_tables where relname = 'usage_traffic'",
  )
  return found[0]?.written ?? 0
}
