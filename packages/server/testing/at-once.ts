import { Client } from 'pg'
import type { TestApi } from './test-api.ts'
import { untilBlocked } from './until-blocked.ts'

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
    await untilBlocked(api.ctx.db.pool)
    await new Promise((resolve) => setTimeout(resolve, gatherMs))
    await client.query('rollback')
    return await running
  } finally {
    await client.end()
  }
}
