import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './atrium-process.ts'
import { startPostgresProxy, type PostgresProxy } from './postgres-proxy.ts'
import { startSpaceRole } from './space-role.ts'
import { stopSweeps } from './stop-sweeps.ts'

export interface CrashWorld {
  database: TestDatabase
  /** A proxy between the API and the database that stops the API at any statement. */
  proxy: PostgresProxy
  /** Starts the API again, at the same address. */
  start(): Promise<AtriumProcess>
  /** Ends all but the API. */
  close(): Promise<void>
}

/**
 * A world in which an API can be killed between any two of its statements. The Space service and the job worker
 * bypass the proxy and keep running.
 */
export async function openCrashWorld(): Promise<CrashWorld> {
  const database = await createTestDatabase()
  await stopSweeps(database.url)
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
