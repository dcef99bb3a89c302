import { Client } from 'pg'
import { fill } from './test-database.ts'

/**
 * In the sessions that begin from now on, PostgreSQL looks for a deadlock before the server gives up an attempt to get a
 * lock. Otherwise each deadlock would end with a further attempt, and nothing would show it.
 */
export function detectDeadlocks(url: string): Promise<void> {
  const sql = `execute format('alter database %I set deadlock_timeout = %L', current_database(), '5ms')`
  return fill(url, `do $$ begin ${sql}; end $$`)
}

/** Ends all other sessions of the database first: each counts for itself, and adds its count at its end at the latest. */
export async function countDeadlocks(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const { rows } = await client.query('select deadlocks from pg_stat_database where datname = current_database()')
    return Number(rows[0].deadlocks)
  } finally {
    await client.end()
  }
}
