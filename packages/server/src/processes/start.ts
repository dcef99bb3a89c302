import { ensureConsole } from '@atrium/web/build/ensure-console'
import { ensureBuilt } from '@atrium/space/build/ensure-built'
import { readConfig, type Config } from '#config/config.ts'
import { chooseConsoleOidc, chooseOidc } from './development-identity/development-issuer.ts'
import { consoleWarnings } from '#config/console-warnings.ts'
import { environmentWarnings, readEnv } from '#config/env.ts'
import { assertPortsDiffer, assertPortsFree } from './assert-ports-free.ts'
import { readWrappedMasterKeys } from '#config/kms-config.ts'
import { forgetMadeMasterKey, keepSecrets, readGivenSecrets, type GivenSecrets, type Secrets } from '#config/secrets.ts'
import type { Database } from '#db/database.ts'
import { startEmbeddedPostgres } from '#db/embedded-postgres.ts'
import { SingleFlight } from '#db/single-flight.ts'
import { hasTenants } from '#features/tenants/store.ts'
import { findOrIssueSpaceAppKey, issueDevelopmentKeys, makeDevelopmentTenant } from '#features/tenants/open-tenant.ts'
import { makeDevelopmentLink } from '#features/console/sign-in.ts'
import { checkMasterKey, holdsSealedValues, WrongMasterKeyError } from '#crypto/vault/check-master-key.ts'
import { Vault } from '#crypto/vault/vault.ts'
import { checkBlobs } from '#ports/blobs/check-blobs.ts'
import { assertOwnFolder } from '#ports/blobs/disk/assert-own-folder.ts'
import { unwrapMasterKeys } from '#ports/master-key/unwrap-master-keys.ts'
import { assertDatabase, assertNoRestoreRuns, explainRefusal, prepareDatabase, prepareSchema } from './prepare-database.ts'
import { startJobWorkerProcess } from './job-worker-process.ts'
import { assertSpaceSettings, namingSpaceAddresses, startSpaceProcess } from './space-process.ts'
import { toError } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { startWorkers } from './api-cluster.ts'
import { MetricsHub } from './metrics/metrics-hub.ts'
import { exportMetrics, serveMetrics } from './metrics/serve-metrics.ts'
import { printBanner } from './banner.ts'

export interface StartOptions {
  /** The number of API processes. */
  workers: number
  /** Whether to start the Space service too; otherwise it runs elsewhere, at ATRIUM_SPACES_URL. */
  space: boolean
}

export interface Running {
  port: number
  /** Resolves to the reason when a part has failed for good. Never resolves as long as all parts can run. */
  failed?: Promise<StartError>
  stop(): Promise<void>
}

/**
 * Starts everything on this machine: the database if none is configured, its migrations, the API, the job worker and
 * the Space service.
 */
export async function start({ workers, space }: StartOptions): Promise<Running> {
  const env = readEnv()
  warn(environmentWarnings())
  const configured = readConfig(env)
  warn(consoleWarnings(configured))
  const config = {
    ...configured,
    oidc: chooseOidc(configured, workers),
    consoleOidc: chooseConsoleOidc(configured, workers),
    ...(space ? { spaceOrigin: `http://127.0.0.1:${configured.spacePort}` } : {}),
  }
  const [given, wrapped] = [readGivenSecrets(env), readWrappedMasterKeys(env)]
  if (space) await assertSpaceSettings(config)
  const { api, space: spacePort, metrics } = portsOf(config)
  const own = space ? [api, spacePort] : [api]
  assertPortsDiffer([...own, metrics])
  await assertPortsFree(config.host, own)
  await assertPortsFree(metrics.host, [metrics])
  await checkBlobs(config, given)
  const opened = await unwrapMasterKeys(given, wrapped)
  const say = (line: string) => console.log(line)
  if (!config.databaseUrl) await assertNoRestoreRuns(config.dataDir)
  const embedded = config.databaseUrl ? undefined : await startEmbeddedPostgres({ dataDir: config.dataDir, say })
  try {
    const databaseUrl = config.databaseUrl ?? embedded?.connectionString
    if (databaseUrl === undefined) throw new StartError('there is no database: set DATABASE_URL')
    const directUrl = config.database.directUrl ?? databaseUrl
    if (config.databaseUrl) await assertDatabase({ url: databaseUrl, directUrl: config.database.directUrl })
    await prepareSchema(directUrl, config.migrate || embedded !== undefined)
    const secrets = await openSecrets(opened, config, directUrl)
    await assertOwnBlobs(config, directUrl)
    const forDevelopment = embedded !== undefined && !config.production
    // The examples of the documentation contain this key too.
    const spacePublishableKey = forDevelopment
      ? await prepareDatabase(directUrl, (db) => prepareDevelopment(db, config))
      : config.spacePublishableKey
    const hub = new MetricsHub()
    await prepareConsole()
    // Reads many files, and so precedes the API, which then frees the memory of its start.
    const spaceBundle = space ? await ensureBuilt().catch(explainBuild) : undefined
    const api = await startProcesses({ ...config, spacePublishableKey }, secrets, databaseUrl, hub, workers)
    // Started after the API, because it may request the keys of the development sign-in.
    const children = await startTogether([
      startJobWorkerProcess(config, secrets, databaseUrl),
      ...(spaceBundle ? [startSpaceProcess({ ...config, spacePublishableKey }, databaseUrl, spaceBundle.bundlePath)] : []),
    ]).catch(stopFirst(api))
    for (const child of children) hub.add(() => child.metrics())
    const others = [...children, await openMetrics(config, secrets, hub).catch(stopFirst(api, ...children))]
    const developmentKeys = forDevelopment
      ? await prepareDatabase(directUrl, issueDevelopmentKeys).catch(stopFirst(api, ...others))
      : undefined
    const consoleLink = forDevelopment
      ? await prepareDatabase(directUrl, (db) => makeDevelopmentLink(db, config.consoleUrl)).catch(stopFirst(api, ...others))
      : undefined
    const isFirst = config.production && !(await prepareDatabase(directUrl, hasTenants).catch(stopFirst(api, ...others)))
    const shown = { ...config, port: api.port }
    printBanner({ config: shown, secrets, developmentKeys, consoleLink, embedded: embedded !== undefined, isFirst, space })
    return {
      port: api.port,
      ...(embedded ? { failed: embedded.failed } : {}),
      stop: async () => {
        await Promise.all([api, ...others].map((one) => one.stop()))
        await embedded?.stop()
      },
    }
  } catch (error) {
    await embedded?.stop()
    throw error
  }
}

function portsOf({ host, port, spacePort, metrics }: Config) {
  return {
    api: { name: 'PORT', host, port },
    space: { name: 'SPACE_PORT', host, port: spacePort },
    metrics: { name: 'ATRIUM_METRICS_PORT', host: metrics.host, port: metrics.port ?? 0 },
  } as const
}

function warn(lines: string[]): void {
  for (const line of lines) console.warn(`Warning: ${line}`)
}

/** A part of the platform that can run by itself, on any number of machines. */
export type Role = 'api' | 'worker' | 'space'

/** Starts one part on this machine, on a database that all parts share. */
export async function startRole(role: Role): Promise<Pick<Running, 'failed' | 'stop'>> {
  const env = readEnv()
  warn(environmentWarnings())
  const config = readConfig(env)
  if (role === 'api') warn(consoleWarnings(config))
  const [given, wrapped] = [readGivenSecrets(env), readWrappedMasterKeys(env)]
  const isSpace = role === 'space'
  if (isSpace) await assertSpaceSettings(config)
  const ports = portsOf(config)
  if (role !== 'worker') assertPortsDiffer([ports[role], ports.metrics])
  const own = isSpace && config.database.space.url !== undefined ? config.database.space : undefined
  const databaseUrl = own?.url ?? config.databaseUrl
  if (!databaseUrl) throw new StartError(`DATABASE_URL must be set: atrium ${role} shares its database with the other parts`)
  // The Space service names neither the port nor what to do if it may not listen.
  if (isSpace) await assertPortsFree(config.host, [ports.space])
  const { directUrl } = own ?? config.database
  const prepare = async () => {
    await assertDatabase({ url: databaseUrl, directUrl })
    await prepareSchema(directUrl ?? databaseUrl, config.migrate)
  }
  await (isSpace ? namingSpaceAddresses(config, prepare) : prepare())
  // The Space service needs none of the platform's secrets, so it does not receive them.
  const hub = new MetricsHub()
  if (isSpace) {
    const child = await startSpaceProcess(config, databaseUrl)
    hub.add(() => child.metrics())
    // It connects to nothing but the database: its metrics are read and not sent.
    return withMetrics(config, undefined, hub, child)
  }
  const secrets = await openSecrets(await unwrapMasterKeys(given, wrapped), config, directUrl ?? databaseUrl)
  await assertOwnBlobs(config, directUrl ?? databaseUrl)
  if (role === 'api') {
    await prepareConsole()
    return withMetrics(config, secrets, hub, await startApiHere(config, secrets, databaseUrl, hub))
  }
  // Loaded on demand: with the libraries for models and pictures, it takes a third of the memory of an API process.
  const { startJobWorker } = await import('./start-job-worker.ts')
  const worker = await startJobWorker(config, secrets, databaseUrl)
  hub.addOwn(worker.metrics.collect)
  return withMetrics(config, secrets, hub, worker)
}

async function withMetrics(
  config: Config,
  secrets: Secrets | undefined,
  hub: MetricsHub,
  running: { stop(): Promise<void> },
): Promise<Pick<Running, 'stop'>> {
  const server = await openMetrics(config, secrets, hub).catch(stopFirst(running))
  return {
    stop: async () => {
      await running.stop()
      await server.stop()
    },
  }
}

/** Serves metrics and sends them, each where it is configured. Without secrets they are not sent. */
async function openMetrics(config: Config, secrets: Secrets | undefined, hub: MetricsHub): Promise<Pick<Running, 'stop'>> {
  const server = await serveMetrics(config, hub)
  const sender = secrets && (await exportMetrics(config, secrets, hub).catch(stopFirst(server)))
  return {
    stop: async () => {
      await Promise.all([server.stop(), sender?.stop()])
    },
  }
}

/** Waits until all are started. If one fails, stops the others and throws its error. */
async function startTogether<Started extends { stop(): Promise<void> }>(starts: Promise<Started>[]): Promise<Started[]> {
  const outcomes = await Promise.allSettled(starts)
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) await stopFirst(...started)(failed.reason)
  return started
}

/** Parts that were started before a failure are stopped. */
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

/** Reads all secrets, and checks that the master key belongs to this database. */
async function openSecrets(given: GivenSecrets, { dataDir }: Config, databaseUrl: string): Promise<Secrets> {
  const isUnsealed = new SingleFlight(databaseUrl, async (db) => !(await holdsSealedValues(db)))
  const secrets = await keepSecrets(given, dataDir, () => isUnsealed.run())
  const check = new SingleFlight(databaseUrl, (db) => checkMasterKey(db, new Vault(secrets.masterKeys)))
  await check.run().catch(async (error: unknown) => {
    // Another machine created a master key first, so the one created here must be removed: left behind, it would
    // look like the right one.
    if (error instanceof WrongMasterKeyError) await forgetMadeMasterKey(secrets)
    throw explainRefusal(error, databaseUrl)
  })
  return secrets
}

async function assertOwnBlobs({ blobs, dataDir }: Config, databaseUrl: string): Promise<void> {
  if (blobs.store === 'disk') await prepareDatabase(databaseUrl, (db) => assertOwnFolder(db, dataDir))
}

/** An API without a console is useful, so it starts even if the console cannot be built. */
async function prepareConsole(): Promise<void> {
  await ensureConsole().catch((error: unknown) => console.warn(`Warning: ${toError(error).message}`))
}

function startProcesses(
  config: Config,
  secrets: Secrets,
  databaseUrl: string,
  hub: MetricsHub,
  workers: number,
): Promise<Running> {
  return workers === 1
    ? startApiHere(config, secrets, databaseUrl, hub)
    : startWorkers(config, secrets, databaseUrl, hub, workers)
}

/**
 * Loads the API code only when it is needed: a start that fails earlier fails sooner, and a process that only
 * supervises others needs less memory.
 */
async function startApiHere(config: Config, secrets: Secrets, databaseUrl: string, hub: MetricsHub): Promise<Running> {
  const { startApi } = await import('./start-api.ts')
  const api = await startApi(config, secrets, databaseUrl)
  hub.addOwn(api.metrics.collect)
  api.metrics.readAll = hub.collect
  return api
}

/** The message has the output of the build. The stack of this process would only hide it. */
function explainBuild(error: unknown): never {
  throw new StartError(toError(error).message, { cause: error })
}
