import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost, isConnectionLost, isPassing, isReadOnly, sqlStateOf } from '@atrium/traffic/database-errors'
import { assertAddresses, type DatabaseAddresses } from '@atrium/traffic/postgres/assert-addresses'
import { openDatabase, type Database } from '#db/database.ts'
import { findEmbeddedPostgres, isEmbedded } from '#db/embedded-postgres.ts'
import { assertNotHalfRestored, findPendingWork, migrate } from '#db/migrate.ts'
import { codeOf, messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'

/** How long a process with ATRIUM_MIGRATE=off waits for `atrium migrate`. */
const migratedWithinMs = 15 * 60_000
const pollIntervalMs = 1_000

const sayWaiting = (line: string) => console.error(`atrium: ${line}`)

/** @throws {StartError} if the addresses cannot be used; it names the variable and the reason. */
export async function assertDatabase(addresses: DatabaseAddresses): Promise<void> {
  await assertAddresses(addresses).catch((error: unknown) => {
    throw new StartError(messageOf(error), { cause: error })
  })
}

/** Opens the database for a step of the start, without the time limits for requests. */
export async function prepareDatabase<Result>(url: string, prepare: (db: Database) => Promise<Result>): Promise<Result> {
  const db = openDatabase({ url, maxConnections: 2, queryTimeoutMs: 60_000, onConnectionError: () => undefined })
  try {
    return await prepare(db)
  } catch (error) {
    throw isConnectionLost(error) && !isReadOnly(error) ? unusable(error) : explainRefusal(error, url)
  } finally {
    await db.close()
  }
}

function unusable(error: unknown): StartError {
  return new StartError(`DATABASE_URL: the database cannot be used: ${messageOf(error) || codeOf(error)}`, { cause: error })
}

/**
 * Returns a StartError if PostgreSQL refused what the code may ask, or was lost. Any other error, which is a defect, is
 * returned as it is.
 */
export function explainRefusal(error: unknown, url: string): unknown {
  if (isEmbedded(url) && isDiskFull(error instanceof StartError ? error.cause : error))
    return new StartError(
      `the disk of the data folder (ATRIUM_DATA_DIR) is full: ${messageOf(error)}. Free some space, and run the command again`,
      { cause: error },
    )
  const state = sqlStateOf(error)
  // Not every code of the network: a file or a bucket may be missing too.
  if (state === undefined) return error instanceof ConnectionLost ? unusable(error) : error
  if (isReadOnly(error))
    return new StartError(`DATABASE_URL: ${messageOf(error)}: the address must lead to the primary, which accepts writes`, {
      cause: error,
    })
  if (state === '42501')
    return new StartError(
      `DATABASE_URL: ${messageOf(error)}: the role must own the database ("alter database NAME owner to ROLE") and the tables in it`,
      { cause: error },
    )
  return isPassing(error) || /^(28|3D|3F)/.test(state) ? unusable(error) : error
}

/** Whether the embedded PostgreSQL has no space, or was made read-only before it has none (DiskGuard). */
function isDiskFull(error: unknown): boolean {
  return isReadOnly(error) || sqlStateOf(error) === '53100'
}

/**
 * Throws StartError if `atrium restore` runs the embedded PostgreSQL of this data folder. Without this, the error would
 * only say that the folder is in use.
 */
export async function assertNoRestoreRuns(dataDir: string): Promise<void> {
  const running = findEmbeddedPostgres(dataDir)
  if (running === undefined) return
  const refusal = await prepareDatabase(
    running,
    ({ pool }) => assertNotHalfRestored(pool).catch((error: unknown) => error),
    // A PostgreSQL that starts or stops refuses connections. The start itself then says that the folder is in use.
  ).catch(() => undefined)
  if (refusal instanceof StartError) throw refusal
}

/**
 * Applies pending migrations, or waits until another process has. A process that ended instead would be restarted by
 * its supervisor with growing pauses, and would start long after the migration. It also waits for the SQL functions,
 * because the code may call a new one.
 */
export async function prepareSchema(databaseUrl: string, mayMigrate: boolean): Promise<void> {
  if (mayMigrate) return void (await prepareDatabase(databaseUrl, (db) => migrate(db.pool, undefined, undefined, { sayWaiting })))
  const giveUpAt = performance.now() + migratedWithinMs
  for (let isFirst = true; ; isFirst = false) {
    const { applied, functions } = await prepareDatabase(databaseUrl, (db) => findPendingWork(db.pool))
    if (applied.length === 0 && functions.length === 0) return
    const missing = applied.length > 0 ? `migration ${applied.at(-1)}` : `function ${functions.at(-1)}`
    const said = `the database does not have ${missing} yet, and ATRIUM_MIGRATE is off: run atrium migrate`
    if (performance.now() > giveUpAt) throw new StartError(said)
    if (isFirst) console.error(`atrium: ${said}. Waiting for it.`)
    await delay(pollIntervalMs)
  }
}
