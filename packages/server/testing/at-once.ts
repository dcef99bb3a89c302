import { Client } from 'pg'
import type { TestApi } from './test-api.ts'

/**
 * All callers have arrived within this time. They wait for a locked row in memory, where the database cannot count
 * them.
 */
const gatherMs = 300

/**
 * Runs functions that all need a checkout's row. It holds the row until the first of them has met the lock and the
 * others have had time to arrive.
 */
export async function atOnce<T>(api: TestApi, checkoutId: string, run: () => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: api.databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select from checkouts where id = $1 for update', [checkoutId])
    const running = run()
    running.catch(() => undefined)
    const deadline = Date.now() + 5_000
    while ((await queued(client)) < 1 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, gatherMs))
    await client.query('rollback')
    return await running
  } finally {
    await client.end()
  }
}

async function queued(client: Client): Promise<number> {
  // A transaction keeps the statistics of its first look, unless they are discarded.
  await client.query('select pg_stat_clear_snapshot()')
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]!.count
}
