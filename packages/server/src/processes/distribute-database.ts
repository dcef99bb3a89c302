import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { assertNotHalfRestored, findPendingWork, withOwnSession } from '#db/migrate.ts'
import { withMigrationLock } from '#db/migration-lock.ts'
import { StartError } from '#errors/start-error.ts'
import { distribute } from '#features/distribution/distribute.ts'
import { withDatabase } from './migrate-database.ts'
import { prepareDatabase } from './prepare-database.ts'

/** `atrium distribute`: prints each step on a line. */
export async function distributeDatabase(): Promise<void> {
  const say = (line: string) => console.log(line)
  if (!readConfig(readEnv()).databaseUrl)
    throw new StartError('DATABASE_URL must be set to the coordinator of a Citus cluster: the embedded database has one node')
  await withDatabase(say, async (url) => {
    const { applied, functions } = await prepareDatabase(url, ({ pool }) => findPendingWork(pool))
    if (applied.length + functions.length > 0) throw new StartError('the database is not up to date: run atrium migrate first')
    await prepareDatabase(url, ({ pool }) =>
      withOwnSession(pool, (client) =>
        withMigrationLock(client, say, async () => {
          await assertNotHalfRestored(client)
          await distribute(client, say)
        }),
      ),
    )
  })
}
