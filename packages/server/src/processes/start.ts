import { readConfig, type Config } from '#config/config.ts'
import { chooseOidc } from './development-identity/development-issuer.ts'
import { environmentWarnings, readEnv } from '#config/env.ts'
import { assertPortsFree } from './assert-ports-free.ts'
import { forgetMadeMasterKey, keepSecrets, readGivenSecrets, type GivenSecrets, type Secrets } from '#config/secrets.ts'
import { assertOwnSessions } from '#db/assert-own-sessions.ts'
import { openDatabase, type Database } from '#db/database.ts'
import { startEmbeddedPostgres } from '#db/embedded-postgres.ts'
import { isConnectionLost } from '@atrium/traffic/database-errors'
import { migrate } from '#db/migrate.ts'
import { SingleFlight } from '#db/single-flight.ts'
import { hasTenants } from '#features/tenants/store.ts'
import { findOrIssueSpaceAppKey, issueDevelopmentKeys, makeDevelopmentTenant } from '#features/tenants/open-tenant.ts'
import { checkMasterKey, holdsSealedValues, WrongMasterKeyError } from '#crypto/vault/check-master-key.ts'
import { Vault } from '#crypto/vault/vault.ts'
import { checkBlobs } from '#ports/blobs/check-blobs.ts'
import { startApi } from './start-api.ts'
import { startJobWorkerProcess } from './job-worker-process.ts'
import { startSpaceProcess } from './space-process.ts'
import { codeOf, messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { startWorkers } from './api-cluster.ts'
import { printBanner } from './banner.ts'

export interface StartOptions {
  /** How many API processes. */
  workers: number
  /** Whether the Space service is started here too; otherwise it runs elsewhere, at ATRIUM_SPACES_URL. */
  space: boolean
}

export interface Running {
  port: number
  /** Why it cannot go on. Never resolves as long as it can. */
  failed?: Promise<StartError>
  stop(): Promise<void>
}

/** Starts everything on this machine: the database if none is configured, its migrations, and the API. */
export async function start({ workers, space }: StartOptions): Promise<Running> {
  const env = readEnv()
  warnOfEnvironment()
  const configured = readConfig(env)
  const config = {
    ...configured,
    oidc: chooseOidc(configured, workers),
    ...(space ? { spaceOrigin: `http://127.0.0.1:${configured.spacePort}` } : {}),
  }
  const given = readGivenSecrets(env)
  const spacePort = { name: 'SPACE_PORT', port: config.spacePort } as const
  await assertPortsFree(config.host, [{ name: 'PORT', port: config.port }, ...(space ? [spacePort] : [])])
  await checkBlobs(config, given)
  const say = (line: string) => console.log(line)
  const embedded = config.databaseUrl ? undefined : await startEmbeddedPostgres({ dataDir: config.dataDir, say })
  try {
    const databaseUrl = config.databaseUrl ?? embedded?.connectionString
    if (databaseUrl === undefined) throw new StartError('there is no database: set DATABASE_URL')
    if (config.databaseUrl) await assertOwnSessions(databaseUrl)
    await prepareDatabase(databaseUrl, (db) => migrate(db.pool))
    const secrets = await openSecrets(given, config, databaseUrl)
    const forDevelopment = embedded !== undefined && !config.production
    const spacePublishableKey = forDevelopment
      ? await prepareDatabase(databaseUrl, (db) => prepareDevelopment(db, config))
      : config.spacePublishableKey
    // The examples of the documentation contain this key too.
    const api = await startProcesses({ ...config, spacePublishableKey }, secrets, databaseUrl, workers)
    // After the API, whose development sign-in it may ask for its keys.
    const jobs = await startJobWorkerProcess(config, secrets, databaseUrl).catch(stopFirst(api))
    const spaceConfig = { ...config, spacePublishableKey }
    const spaces = space ? await startSpaceProcess(spaceConfig, databaseUrl).catch(stopFirst(api, jobs)) : undefined
    const developmentKeys = forDevelopment
      ? await prepareDatabase(databaseUrl, issueDevelopmentKeys).catch(stopFirst(api, jobs, ...(spaces ? [spaces] : [])))
      : undefined
    const isFirst =
      config.production &&
      !(await prepareDatabase(databaseUrl, hasTenants).catch(stopFirst(api, jobs, ...(spaces ? [spaces] : []))))
    const shown = { ...config, port: api.port }
    printBanner({ config: shown, secrets, developmentKeys, embedded: embedded !== undefined, isFirst, space })
    return {
      port: api.port,
      ...(embedded ? { failed: embedded.failed } : {}),
      stop: async () => {
        await Promise.all([api.stop(), jobs.stop(), spaces?.stop()])
        await embedded?.stop()
      },
    }
  } catch (error) {
    await embedded?.stop()
    throw error
  }
}

function warnOfEnvironment(): void {
  for (const line of environmentWarnings()) console.warn(`Warning: ${line}`)
}

/** A part of the platform that runs by itself, on as many machines as one likes. */
export type Role = 'api' | 'worker' | 'space'

/** Starts one part on this machine, over a database that all parts share. */
export async function startRole(role: Role): Promise<Pick<Running, 'failed' | 'stop'>> {
  const env = readEnv()
  warnOfEnvironment()
  const config = readConfig(env)
  const given = readGivenSecrets(env)
  const { databaseUrl } = config
  if (!databaseUrl) throw new StartError(`DATABASE_URL must be set: atrium ${role} shares its database with the other parts`)
  await assertOwnSessions(databaseUrl)
  await prepareDatabase(databaseUrl, (db) => migrate(db.pool))
  // Alone it needs none of the platform's secrets, and is not given them.
  if (role === 'space') return startSpaceProcess(config, databaseUrl)
  const secrets = await openSecrets(given, config, databaseUrl)
  if (role === 'worker') {
    // Loaded when used: with all that models and pictures need, it takes a third of the memory of an API process.
    const { startJobWorker } = await import('./start-job-worker.ts')
    return startJobWorker(config, secrets, databaseUrl)
  }
  return startApi(config, secrets, databaseUrl)
}

/** What was started before a failure must not stay. */
function stopFirst(...running: { stop(): Promise<void> }[]): (error: unknown) => Promise<never> {
  return async (error) => {
    await Promise.all(running.map((one) => one.stop()))
    throw error
  }
}

async function prepareDevelopment(db: Database, { spacePublishableKey, dataDir }: Config): Promise<string | undefined> {
  await makeDevelopmentTenant(db)
  return spacePublishableKey ?? findOrIssueSpaceAppKey(db, dataDir)
}

/** All secrets, of which the master key is one that belongs to this database. */
async function openSecrets(given: GivenSecrets, { dataDir }: Config, databaseUrl: string): Promise<Secrets> {
  const isUnsealed = new SingleFlight(databaseUrl, async (db) => !(await holdsSealedValues(db)))
  const secrets = await keepSecrets(given, dataDir, () => isUnsealed.run())
  const check = new SingleFlight(databaseUrl, (db) => checkMasterKey(db, new Vault(secrets.masterKeys)))
  await check.run().catch(async (error: unknown) => {
    // Made here while another machine made one too, and was first: left behind, it would pass for the right one.
    if (error instanceof WrongMasterKeyError) await forgetMadeMasterKey(secrets)
    throw error
  })
  return secrets
}

async function prepareDatabase<Result>(url: string, prepare: (db: Database) => Promise<Result>): Promise<Result> {
  const db = openDatabase({ url, maxConnections: 2, queryTimeoutMs: 60_000, onConnectionError: () => undefined })
  try {
    return await prepare(db)
  } catch (error) {
    throw connectionError(error)
  } finally {
    await db.close()
  }
}

function connectionError(error: unknown): unknown {
  const [code, message] = [codeOf(error), messageOf(error)]
  const unreachable = isConnectionLost(error) || ['28P01', '28000', '3D000'].includes(code ?? '')
  return unreachable ? new StartError(`DATABASE_URL: the database cannot be used: ${message || code}`) : error
}

function startProcesses(config: Config, secrets: Secrets, databaseUrl: string, workers: number): Promise<Running> {
  return workers === 1 ? startApi(config, secrets, databaseUrl) : startWorkers(config, secrets, databaseUrl, workers)
}
