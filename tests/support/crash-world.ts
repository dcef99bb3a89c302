import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './atrium-process.ts'
import { queryDatabase } from './query-database.ts'
import { startPostgresProxy, type PostgresProxy } from './postgres-proxy.ts'
import { startSpaceRole } from './space-role.ts'

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

/** No process gets the lease of a sweep. Its statements would count as those of the operation that is killed. */
async function stopSweeps(databaseUrl: string): Promise<void> {
  await queryDatabase(databaseUrl, "create function leave_it() returns trigger language plpgsql as 'begin return null; end'")
  await queryDatabase(
    databaseUrl,
    'create trigger stop_sweeps before update on sweep_leases for each row execute function leave_it()',
  )
}
