import { Connection } from '@atrium/traffic/postgres/connection'
import { timeouts } from '@atrium/traffic/timeouts'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'

/**
 * Throws StartError if the database cannot be used, or if two connections share one session of PostgreSQL, as behind PgBouncer in transaction mode:
 * their settings, prepared statements, locks and channels would be each other's. On a busy pooler two connections may happen to get
 * different sessions.
 */
export async function assertOwnSessions(url: string): Promise<void> {
  const opened: Connection[] = []
  try {
    const pids = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const connection = await Connection.open({ url, connectMs: 10_000, answerMs: timeouts.answerMs })
      opened.push(connection)
      const { rows } = await connection.query<{ pid: string }>('select pg_backend_pid() as pid')
      for (const { pid } of rows) pids.add(pid)
    }
    if (pids.size < opened.length)
      throw new Error('a pooler such as PgBouncer in transaction mode shares its sessions; use session mode')
  } catch (error) {
    throw new StartError(`DATABASE_URL: the database cannot be used: ${messageOf(error)}`)
  } finally {
    await Promise.all(opened.map((connection) => connection.end()))
  }
}
