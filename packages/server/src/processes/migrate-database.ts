import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '#db/embedded-postgres.ts'
import { findPendingWork, migrate, type PendingWork } from '#db/migrate.ts'
import { StartError } from '#errors/start-error.ts'
import { assertDatabase, explainRefusal, prepareDatabase } from './prepare-database.ts'

export interface MigrateDatabaseOptions {
  /** Lists what is pending, and changes nothing. */
  dryRun: boolean
  /** How long each migration waits for its locks. */
  lockWaitMs: number
}

/** `atrium migrate`: prints each step on a line. Returns whether the database is up to date. */
export async function migrateDatabase({ dryRun, lockWaitMs }: MigrateDatabaseOptions): Promise<boolean> {
  const say = (line: string) => console.log(line)
  const { databaseUrl, dataDir } = readConfig(readEnv())
  if (!databaseUrl) {
    if (dryRun && !existsSync(join(dataDir, 'postgres')))
      throw new StartError(`there is no database in ${dataDir}: set DATABASE_URL, or ATRIUM_DATA_DIR to the folder of one`)
    say(`DATABASE_URL is not set: this is the database in ${dataDir} (ATRIUM_DATA_DIR).`)
  }
  return withDatabase(say, (url) =>
    prepareDatabase(url, async ({ pool }) => {
      if (dryRun) {
        const pending = await findPendingWork(pool)
        return listPending(pending, say)
      }
      const done = await migrate(pool, undefined, undefined, { lockWaitMs, say })
      say(describeDone(done))
      return true
    }),
  )
}

/**
 * The database of DATABASE_DIRECT_URL or DATABASE_URL, or the embedded one, which is started for this purpose unless
 * another atrium process runs it.
 */
export async function withDatabase<Result>(
  say: (line: string) => void,
  run: (databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl, database, dataDir } = readConfig(readEnv())
  if (databaseUrl) {
    await assertDatabase({ url: databaseUrl, directUrl: database.directUrl })
    const url = database.directUrl ?? databaseUrl
    return run(url).catch((error: unknown) => Promise.reject(explainRefusal(error, url)))
  }
  const running = findEmbeddedPostgres(dataDir)
  if (running) return run(running)
  const embedded = await startEmbeddedPostgres({ dataDir, say })
  try {
    return await run(embedded.connectionString)
  } finally {
    await embedded.stop()
  }
}

function listPending({ applied, functions }: PendingWork, say: (line: string) => void): boolean {
  for (const name of applied) say(`pending: migration ${name}`)
  for (const name of functions) say(`pending: SQL function ${name}`)
  const isDone = applied.length + functions.length === 0
  if (isDone) say('The database is up to date.')
  return isDone
}

function describeDone({ applied, functions }: PendingWork): string {
  if (applied.length + functions.length === 0) return 'The database is up to date; there was nothing to do.'
  return `The database is up to date: ${applied.length} migrations and ${functions.length} SQL functions applied.`
}
