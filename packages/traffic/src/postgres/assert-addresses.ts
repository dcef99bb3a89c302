import { timeouts } from '../timeouts.ts'
import { Connection } from './connection.ts'

export interface DatabaseAddresses {
  /** For requests and jobs. With a direct address, it may lead through a pooler in transaction mode. */
  url: string
  /**
   * Leads to sessions of PostgreSQL itself, which notifications, migrations and backups need. undefined: `url` does.
   */
  directUrl?: string | undefined
}

/** On a busy pooler, a single round may miss that sessions are shared. */
const rounds = 20

/**
 * Connects, and throws if the addresses cannot be used: no server or a standby answers, they lead to different
 * databases, or the address that needs own sessions shares them. The errors name the variables DATABASE_URL and
 * DATABASE_DIRECT_URL.
 */
export async function assertAddresses({ url, directUrl }: DatabaseAddresses): Promise<void> {
  if (directUrl === undefined) return within('DATABASE_URL', () => assertOwnSessions(url))
  await within('DATABASE_DIRECT_URL', () => assertOwnSessions(directUrl))
  const database = await within('DATABASE_URL', () => identify(url))
  if (database !== (await within('DATABASE_DIRECT_URL', () => identify(directUrl))))
    throw new Error('DATABASE_URL and DATABASE_DIRECT_URL lead to two databases: they must lead to the same one')
}

const shared =
  'a pooler on the way shares its sessions, such as PgBouncer in transaction mode: set DATABASE_DIRECT_URL to an address that leads past it, or use session mode'

async function within<Result>(variable: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    throw new Error(`${variable}: the database cannot be used: ${message || code}`, { cause: error })
  }
}

/**
 * Throws if the second connection gets the session of the first, or if the first does not keep its session. In each
 * round the second one holds a session in a transaction. If the first one used that session last, a pooler must give it
 * another, even if the pooler is busy with other clients.
 */
async function assertOwnSessions(url: string): Promise<void> {
  await withConnection(url, (first) =>
    withConnection(url, async (second) => {
      const own = await pidOf(first)
      for (let i = 0; i < rounds; i++) {
        await second.query('begin')
        const isShared = (await pidOf(second)) === own || (await pidOf(first)) !== own
        await second.query('commit')
        if (isShared) throw new Error(shared)
      }
    }),
  )
}

const pidOf = (connection: Connection) => valueOf(connection, 'select pg_backend_pid() as value')

async function valueOf(connection: Connection, sql: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ value: string }>(sql)
  return rows[0]?.value
}

/** The database's oid survives a failover, as the identifier of its cluster does. */
function identify(url: string): Promise<string | undefined> {
  const sql = `select system_identifier || '/' || oid as value
                 from pg_control_system(), pg_database where datname = current_database()`
  return withConnection(url, (connection) => valueOf(connection, sql))
}

async function withConnection<Result>(url: string, run: (connection: Connection) => Promise<Result>): Promise<Result> {
  const connection = await Connection.open({ url, connectMs: 10_000, answerMs: timeouts.answerMs })
  try {
    if ((await valueOf(connection, 'select pg_is_in_recovery() as value')) === 't')
      throw new Error('the server is a standby: the address must lead to the primary, which accepts writes')
    return await run(connection)
  } finally {
    await connection.end()
  }
}
