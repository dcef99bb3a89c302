import { Client } from 'pg'
import type { TestApi } from './test-api.ts'

/**
 * Runs what all wants a checkout's row, and holds the row until `waiting` of them queue for it: so they are there at once, whatever the
 * machine is busy with.
 */
export async function atOnce<T>(api: TestApi, checkoutId: string, waiting: number, run: () => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: api.databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select from checkouts where id = $1 for update', [checkoutId])
    const running = run()
    running.catch(() => undefined)
    const deadline = Date.now() + 5_000
    while ((await queued(client)) < waiting && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
    await client.query('rollback')
    return await running
  } finally {
    await client.end()
  }
}

async function queued(client: Client): Promise<number> {
  // The statistics of a transaction are those of its first look, unless they are let go.
  await client.query('select pg_stat_clear_snapshot()')
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]!.count
}
