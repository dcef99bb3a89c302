import pino from 'pino'
import { PlatformIssuer } from '#features/agent-issuer/agent-issuer.ts'
import { PlatformKeys } from '#features/platform-keys/platform-keys.ts'
import type { Config } from '#config/config.ts'
import { isDevelopmentIssuer } from './development-identity/development-issuer.ts'
import { accessLinePrefix, logOutput, logTime } from './log-output.ts'
import type { Secrets } from '#config/secrets.ts'
import type { Context } from '#features/context.ts'
import { openDatabase } from '#db/database.ts'
import { SingleFlight } from '#db/single-flight.ts'
import { Listener } from '@atrium/traffic/listener'
import { openMediaLoader, openPreviewLoader } from '#features/artifacts/artifact-loaders.ts'
import { deleteUnserved } from '#features/artifacts/delete-unserved.ts'
import { Variants } from '#features/artifacts/variants.ts'
import { CollectionReader } from '#features/collections/collection-reader.ts'
import { resolveCallers } from '#features/console/resolve-callers.ts'
import { readTenantShards } from '#features/distribution/shards-store.ts'
import { EpochCache } from '#features/credits/epochs/epoch.ts'
import { makeBooks } from '#features/credits/books/log-books.ts'
import { makeHeadsRoot } from '#features/events/daily-root/log-heads.ts'
import { runAskedAudit } from '#features/credits/ledger/asked-audits.ts'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { proveBooks } from '#features/credits/ledger/audit.ts'
import { openLedger } from '#features/credits/ledger/ledger.ts'
import { RestoreWindow } from '#features/backup/restore-window.ts'
import { EventNotifier } from '#features/events/event-notifier.ts'
import { OutboxFloors } from '#features/events/outbox-floors.ts'
import { ItemAdder } from '#features/items/item-adder.ts'
import { KeyCache } from '#features/keys/key-cache.ts'
import { KeyUse } from '#features/keys/key-use.ts'
import { keyChannel } from '#features/keys/store.ts'
import { RevocationProbe } from '#features/revocation-probe/revocation-probe.ts'
import { AgentRooms } from '#features/sessions/agent-room.ts'
import { stopSessionsOfAgent } from '#features/sessions/session-transitions.ts'
import { cursorOrigin } from '#features/streams/channel.ts'
import { EventStreams } from '#features/streams/event-streams.ts'
import { SuspensionReader } from '#features/tenants/suspension-reader.ts'
import { UsageCounter } from '#features/usage/usage-counter.ts'
import { RequestLog } from '#features/request-log/request-log.ts'
import { AccessLog } from '#http/access-log.ts'
import { Metrics } from '#http/metrics.ts'
import { openBlobs } from '#ports/blobs/open-blobs.ts'
import { openEgress } from '#ports/egress/egress.ts'
import { openConsoleIdentity } from '#ports/console-identity.ts'
import { openIdentityCheck } from '#ports/identity-check.ts'
import { Pictures } from '@atrium/media/pictures/pictures'
import { openPayments } from '#ports/payments/open-payments.ts'
import { FetchedReportKeys, fixedReportKeys } from '#ports/report-keys.ts'
import { openTracing } from '#ports/tracing/open-tracing.ts'
import { traceDatabase } from '#ports/tracing/trace-database.ts'
import { openRateLimiter } from '#ports/rate-limits/open-rate-limiter.ts'
import { hashCredential } from '#crypto/random.ts'
import { reseal } from '#crypto/vault/reseal.ts'
import { Vault } from '#crypto/vault/vault.ts'

export type Role = 'api' | 'worker'

export interface OpenContext {
  ctx: Context
  close(): Promise<void>
}

/** Builds everything that handlers use, in the order of the dependencies. */
export async function openContext(
  config: Config,
  secrets: Secrets,
  databaseUrl: string,
  role: Role = 'api',
): Promise<OpenContext> {
  const options = { level: config.logLevel, base: { pid: process.pid }, timestamp: logTime }
  const log = pino(options, logOutput)
  const tracing = await openTracing(config, secrets, role, log)
  const directUrl = config.database.directUrl ?? databaseUrl
  const untraced = openDatabase({
    url: databaseUrl,
    isPooled: config.database.directUrl !== undefined,
    maxConnections: config.database.poolSize,
    onConnectionError: (error) => log.error({ err: error }, 'database connection lost'),
    onWakeUpError: (error) => log.warn({ err: error }, 'other processes not notified; they find the changes when they poll'),
  })
  const db = tracing ? traceDatabase(untraced, tracing) : untraced
  const keyCache = new KeyCache({ load: (hashes) => resolveCallers(db, hashes) })
  const keyUse = new KeyUse(db, (error) => log.error({ err: error }, 'last use of keys not recorded'))
  const metrics = new Metrics(db, role, tracing)
  const usageCounter = new UsageCounter({
    db,
    registry: metrics.registry,
    onError: (error) => log.error({ err: error }, 'usage not written; trying again'),
  })
  const tenantShards = await readTenantShards(db)
  const requestLog = new RequestLog({
    db,
    tenantShards,
    registry: metrics.registry,
    days: config.retentionDays.requests,
    onError: (error) => log.error({ err: error }, 'request log not written; trying again'),
  })
  const eventNotifier = new EventNotifier(db)
  const floors = new OutboxFloors()
  const outbox = { isSpread: tenantShards.isSpread, floors }
  const rateLimiter = await openRateLimiter(config, metrics.registry, log)
  const blobs = await openBlobs(config, secrets)
  const pictures = new Pictures()
  const payments = await openPayments(config, secrets.stripe)

  const vault = new Vault(secrets.masterKeys)
  const agentIssuer = new PlatformIssuer({
    issuer: new URL(config.publicUrl).origin,
    audience: config.spacesUrl,
    keys: new PlatformKeys({ db, vault, purpose: 'agent_tokens' }),
    onWrongClock: (seconds) =>
      log.error(
        { space: config.spacesUrl },
        `the clock of the Space service is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this one, so it refuses ` +
          'agents: set both machines to the right time',
      ),
  })
  const signingKeys = {
    receipts: new PlatformKeys({ db, vault, purpose: 'receipts' }),
    quotes: new PlatformKeys({ db, vault, purpose: 'quotes' }),
  }

  const restoreWindow = new RestoreWindow({
    db,
    onError: (error) =>
      log.error(
        { err: error },
        'the database cannot be asked whether an operator has confirmed the restore; it is asked again every second, and until it answers, no jobs run: check the database',
      ),
    onFailed: (error) => {
      log.fatal({ err: error }, 'work did not begin after the confirmation of the restore; ending, to be started again')
      process.exit(1)
    },
  })
  const streams = new EventStreams({
    db,
    tenantShards,
    outbox,
    databaseUrl: directUrl,
    log,
    keyCache,
    cursors: cursorOrigin(secrets.masterKeys, await restoreWindow.restoredAt()),
    limits: config.streams,
    registry: metrics.registry,
  })

  const listener = new Listener({
    url: directUrl,
    channel: keyChannel,
    onMessage: (tenantId) => {
      keyCache.forgetTenant(tenantId)
      void streams.checkTenant(tenantId)
    },
    onGap: () => {
      keyCache.forgetAll()
      floors.forgetAll()
    },
    onError: (error) => log.error({ err: error }, 'key notifications lost; reconnecting'),
  })
  await listener.start()

  const itemAdder = new ItemAdder(db, tenantShards, (tenantIds) => eventNotifier.notify(tenantIds))
  metrics.watchBatcher('items', itemAdder)

  await restoreWindow.start()
  if (restoreWindow.isUnconfirmed)
    log.warn('a restore is not confirmed: only public reads are answered, and no jobs run (atrium restore --confirm-window)')

  const egress = openEgress({ mode: config.egress })
  const ctx: Context = {
    config,
    adminTokenHash: hashCredential(secrets.adminToken),
    log,
    accessLog:
      config.accessLog && log.isLevelEnabled('info') ? new AccessLog({ output: logOutput, prefix: accessLinePrefix }) : undefined,
    db,
    metrics,
    tracing,
    vault,
    rateLimiter,
    keyCache,
    keyUse,
    revocationProbe: new RevocationProbe({
      db,
      keyCache,
      registry: metrics.registry,
      onError: (error) => log.warn({ err: error }, 'the time of a revocation not measured'),
    }),
    collections: new CollectionReader(db),
    suspensions: new SuspensionReader(db),
    publicPreviews: openPreviewLoader(db),
    media: openMediaLoader(db),
    tenantShards,
    itemAdder,
    outbox,
    usageCounter,
    requestLog,
    streams,
    ledger: openLedger(db),
    epochs: new EpochCache(db),
    auditor: new SingleFlight(directUrl, auditLedger),
    prover: new SingleFlight(directUrl, (alone) => proveBooks(alone)),
    booksMaker: new SingleFlight(directUrl, makeBooks),
    headsMaker: new SingleFlight(directUrl, makeHeadsRoot),
    askedAudits: new SingleFlight(directUrl, (alone) => runAskedAudit(db, alone)),
    restoreWindow,
    resealer: new SingleFlight(directUrl, (alone) => reseal(alone, vault)),
    consoleIdentity:
      config.consoleOidc && openConsoleIdentity(config.consoleOidc, isDevelopmentIssuer(config, config.consoleOidc)),
    identity: config.oidc && openIdentityCheck(config.oidc),
    agentIssuer,
    signingKeys,
    agentRooms: new AgentRooms(config.spaceOrigin, agentIssuer, new URL(config.spacesUrl).origin),
    stopSessionsOfAgent: (agentTenantId, agentId) => stopSessionsOfAgent(ctx, agentTenantId, agentId),
    egress,
    reportKeys:
      'url' in config.reportKeys
        ? new FetchedReportKeys({
            url: config.reportKeys.url,
            send: (request) => egress.send(request),
            onError: (error) => log.warn({ err: error }, 'the keys that sign reports of leaked keys not fetched'),
          })
        : fixedReportKeys(config.reportKeys.keys),
    blobs,
    pictures,
    variants: new Variants(blobs, pictures, (artifact) => deleteUnserved(ctx, { ...artifact, artifactId: artifact.id })),
    payments,
    relay: config.turnUrls && secrets.turn ? { urls: config.turnUrls, secret: secrets.turn } : undefined,
  }
  const close = async () => {
    await restoreWindow.close()
    await streams.close()
    await listener.close()
    eventNotifier.close()
    await ctx.egress.close()
    await pictures.close()
    blobs.close()
    await usageCounter.close()
    await requestLog.close()
    await keyUse.close()
    await rateLimiter.close()
    await db.close()
  }
  return { ctx, close }
}
