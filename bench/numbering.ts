// Compares the numbering of events with hashes (numberFreeEvents) with the bare numbering of number_outbox, in one run:
// node bench/numbering.ts [rounds]. Both number a backlog of 16,000 events, of 1 and of 20 tenants, in alternating order.
// Printed are the medians, and the ratio of bare to chained time of each pair: median (lowest–highest).
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { numberFreeEvents } from '../packages/server/src/features/events/numbering-store.ts'
import { median } from './goals.ts'

const [rounds = 15] = process.argv.slice(2).map(Number)
const backlog = 16_000
const batch = 500
/** As many events of several tenants as one call numbers in both forms. */
const maxEvents = 2_000

const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-bench-'))
chmodSync(folder, 0o711)
const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
const db = openDatabase({ url: postgres.connectionString, maxConnections: 20, onConnectionError: () => undefined })
let written = 0
try {
  await migrate(db.pool)
  for (const tenants of [1, 20]) await compare(tenants)
} finally {
  await db.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function compare(tenants: number): Promise<void> {
  // Tenants of their own: the bare numbering leaves the chain behind, and the chained one would have to mend it.
  const idsOf = (kind: string) => Array.from({ length: tenants }, (_, i) => `ten_${kind}_${tenants}_${i}`)
  const [bareIds, chainedIds] = [idsOf('bare'), idsOf('chained')]
  const perTenant = Math.min(batch, maxEvents / tenants)
  const bare = () =>
    time(bareIds, async () => {
      const { rows } = await db.pool.query<{ given: number }>('select given from number_outbox($1, $2)', [bareIds, perTenant])
      return Number(rows[0]?.given) > 0
    })
  const chained = () => time(chainedIds, async () => (await numberFreeEvents(db, chainedIds, batch)) > 0)
  const pairs: { bareMs: number; chainedMs: number }[] = []
  for (let round = -1; round < rounds; round++) {
    const first = round % 2 === 0 ? await bare() : undefined
    const chainedMs = await chained()
    const bareMs = first ?? (await bare())
    // The first pair warms up.
    if (round >= 0) pairs.push({ bareMs, chainedMs })
  }
  const ratios = pairs.map(({ bareMs, chainedMs }) => bareMs / chainedMs)
  const perEvent = (ms: number[]) => `${((1_000 * median(ms)) / backlog).toFixed(1)} µs`
  console.log(
    `${tenants} tenants: bare ${perEvent(pairs.map(({ bareMs }) => bareMs))}, chained ${perEvent(pairs.map(({ chainedMs }) => chainedMs))} an event, ` +
      `ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
  )
}

/** How long it takes to number a new backlog of the tenants, in milliseconds. */
async function time(ids: string[], number: () => Promise<boolean>): Promise<number> {
  const data = {
    item_id: 'itm_0123456789abcdefghijkl',
    collection_id: 'col_0123456789abcdefghijkl',
    access: 'open',
    approved: true,
    archived: false,
    data: { text: 'Happy birthday, old lighthouse!' },
  }
  await db.pool.query(
    `insert into event_outbox (tenant_id, id, type, data)
     select t.id, 'evt_' || lpad(($3 + n)::text, 22, '0'), 'item.created', $4
     from generate_series(1, $2) n cross join lateral (select ($1::text[])[1 + n % cardinality($1::text[])] as id) t`,
    [ids, backlog, written, JSON.stringify(data)],
  )
  written += backlog
  await db.pool.query('vacuum analyze event_outbox')
  const start = performance.now()
  while (await number());
  return performance.now() - start
}
