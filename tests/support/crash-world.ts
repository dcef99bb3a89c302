import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './atrium-process.ts'
import { startPostgresProxy, type PostgresProxy } from './postgres-proxy.ts'
import { startSpaceRole } from './space-role.ts'

export interface CrashWorld {
  database: TestDatabase
  /** Between the API and the database: it stops the API at any statement. */
  proxy: PostgresProxy
  /** Starts the API again, at the same address. */
  start(): Promise<AtriumProcess>
  /** Ends all but the API. */
  close(): Promise<void>
}

/**
 * Where an API is killed between any two of its statements. Neither the Space service nor the job worker is cut off:
 * theirs go past the proxy.
 */
export async function openCrashWorld(): Promise<CrashWorld> {
  const database = await createTestDatabase()
  const proxy = await startPostgresProxy(database.url)
  const port = await freePort()
  const space = await startSpaceRole(database.url, `http://localhost:${port}`)
  return {
    database,
    proxy,
    start: () => startAtrium({ databaseUrl: proxy.url, port, role: 'api', env: { ATRIUM_SPACES_URL: space.origin } }),
    close: async () => {
      await space.end()
      await proxy.close()
      await database.drop()
    },
  }
}
