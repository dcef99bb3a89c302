import pino from 'pino'
import { PlatformIssuer } from '#features/agent-issuer/agent-issuer.ts'
import { PlatformKeys } from '#features/agent-issuer/platform-keys.ts'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { Context } from '#features/context.ts'
import { openDatabase } from '#db/database.ts'
import { SingleFlight } from '#db/single-flight.ts'
import { Listener } from '@atrium/traffic/listener'
import { openMediaLoader, openPreviewLoader } from '#features/artifacts/operations/reading.ts'
import { Variants } from '#features/artifacts/variants.ts'
import { CollectionReader } from '#features/collections/collection-reader.ts'
import { EpochCache } from '#features/credits/epochs/epoch.ts'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { proveBooks } from '#features/credits/ledger/audit.ts'
import { openLedger } from '#features/credits/ledger/ledger.ts'
import { EventNotifier } from '#features/events/event-notifier.ts'
import { openItemAdder } from '#features/items/item-adder.ts'
import { KeyCache } from '#features/keys/key-cache.ts'
import { KeyUse } from '#features/keys/key-use.ts'
import { keyChannel, resolveKeys } from '#features/keys/store.ts'
import { AgentRooms } from '#features/sessions/agent-room.ts'
import { stopSessionsOfAgent } from '#features/sessions/session-transitions.ts'
import { EventStreams } from '#features/streams/event-streams.ts'
import { UsageCounter } from '#features/usage/usage-counter.ts'
import { Metrics } from '#http/metrics.ts'
import { openBlobs } from '#ports/blobs/open-blobs.ts'
import { openEgress } from '#ports/egress/egress.ts'
import { openIdentityCheck } from '#ports/identity-check.ts'
import { Pictures } from '@atrium/media/pictures/pictures'
import { openPayments } from '#ports/payments/open-payments.ts'
import { openRateLimiter } from '#ports/rate-limits/open-rate-limiter.ts'
import { hashCredential } from '#crypto/random.ts'
import { reseal } from '#crypto/vault/reseal.ts'
import { Vault } from '#crypto/vault/vault.ts'

export interface OpenContext {
  ctx: Context
  close(): Promise<void>
}

const maxConnections = 20

/** Builds everything that handlers use, by hand, in the order of what needs what. */
export async function openContext(config: Config, secrets: Secrets, databaseUrl: string): Promise<OpenContext> {
  const log = pino({ level: config.logLevel, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime })
  const db = openDatabase({
    url: databaseUrl,
    maxConnections,
    onConnectionError: (error) => log.error({ err: error }, 'database connection lost'),
  })
  const keyCache = new KeyCache({ load: (hashes) => resolveKeys(db, hashes) })
  const keyUse = new KeyUse(db, (error) => log.error({ err: error }, 'last use of keys not recorded'))
  const metrics = new Metrics(db)
  const usageCounter = new UsageCounter({
    db,
    registry: metrics.registry,
    onError: (error) => log.error({ err: error }, 'usage not written; trying again'),
  })
  const eventNotifier = new EventNotifier(db, (error) => log.error({ err: error }, 'workers not notified of events'))
  const listener = new Listener({
    url: databaseUrl,
    channel: keyChannel,
    onMessage: (tenantId) => keyCache.forgetTenant(tenantId),
    onGap: () => keyCache.forgetAll(),
    onError: (error) => log.error({ err: error }, 'key notifications lost; reconnecting'),
  })
  await listener.start()
  const rateLimiter = await openRateLimiter(config, log)
  const blobs = await openBlobs(config, secrets)
  const pictures = new Pictures()
  const payments = await openPayments(config, secrets.stripe)

  const vault = new Vault(secrets.masterKeys)
  const agentIssuer = new PlatformIssuer({
    issuer: new URL(config.publicUrl).origin,
    audience: config.spacesUrl,
    keys: new PlatformKeys({ db, vault, purpose: 'agent_tokens' }),
  })

  const streams = new EventStreams({
    db,
    databaseUrl,
    log,
    keyCache,
    masterKeys: secrets.masterKeys,
    limits: config.streams,
    registry: metrics.registry,
  })

  const ctx: Context = {
    config,
    adminTokenHash: hashCredential(secrets.adminToken),
    log,
    db,
    metrics,
    vault,
    rateLimiter,
    keyCache,
    keyUse,
    collections: new CollectionReader(db),
    publicPreviews: openPreviewLoader(db),
    media: openMediaLoader(db),
    itemAdder: openItemAdder(db, () => eventNotifier.notify()),
    usageCounter,
    streams,
    ledger: openLedger(db),
    epochs: new EpochCache(db),
    auditor: new SingleFlight(databaseUrl, auditLedger),
    prover: new SingleFlight(databaseUrl, (alone) => proveBooks(alone)),
    resealer: new SingleFlight(databaseUrl, (alone) => reseal(alone, vault)),
    identity: config.oidc && openIdentityCheck(config.oidc),
    agentIssuer,
    agentRooms: new AgentRooms(config.spaceOrigin, agentIssuer),
    stopSessionsOfAgent: (agentTenantId, agentId) => stopSessionsOfAgent(ctx, agentTenantId, agentId),
    egress: openEgress({ mode: config.egress }),
    blobs,
    pictures,
    variants: new Variants(blobs, pictures),
    payments,
    relay: config.turnUrls && secrets.turn ? { urls: config.turnUrls, secret: secrets.turn } : undefined,
  }
  const close = async () => {
    await streams.close()
    await listener.close()
    eventNotifier.close()
    await ctx.egress.close()
    await pictures.close()
    blobs.close()
    await usageCounter.close()
    await keyUse.close()
    await rateLimiter.close()
    await db.close()
  }
  return { ctx, close }
}
