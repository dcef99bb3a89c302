import pino from 'pino'
import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import type { Context } from './context.ts'
import { openDatabase } from './db/database.ts'
import { Listener } from '@atrium/traffic/listener'
import { openHeroReader } from './features/artifacts/hero-reader.ts'
import { CollectionReader } from './features/collections/collection-reader.ts'
import { openItemAdder } from './features/items/item-adder.ts'
import { KeyCache } from './features/keys/key-cache.ts'
import { KeyUse } from './features/keys/key-use.ts'
import { keyChannel, resolveKeys } from './features/keys/store.ts'
import { Metrics } from './http/metrics.ts'
import { openIdentityCheck } from './ports/identity-check.ts'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import { openRedisRateLimiter } from './ports/redis-rate-limiter.ts'
import { hashCredential } from './random.ts'
import { Vault } from './vault.ts'

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
  const listener = new Listener({
    url: databaseUrl,
    channel: keyChannel,
    onMessage: (tenantId) => keyCache.forgetTenant(tenantId),
    onGap: () => keyCache.forgetAll(),
    onError: (error) => log.error({ err: error }, 'key notifications lost; reconnecting'),
  })
  await listener.start()
  const rateLimiter = await openRateLimiter(config, log)

  const ctx: Context = {
    config,
    adminTokenHash: hashCredential(secrets.adminToken),
    log,
    db,
    metrics: new Metrics(db.pool),
    vault: new Vault(secrets.masterKey),
    rateLimiter,
    keyCache,
    keyUse,
    collections: new CollectionReader(db),
    heroes: openHeroReader(db),
    itemAdder: openItemAdder(db),
    identity: config.oidc && openIdentityCheck(config.oidc),
  }
  const close = async () => {
    await listener.close()
    await keyUse.close()
    await rateLimiter.close()
    await db.close()
  }
  return { ctx, close }
}

async function openRateLimiter(config: Config, log: Context['log']): Promise<RateLimiter> {
  if (!config.redisUrl) return new MemoryRateLimiter()
  return openRedisRateLimiter({
    url: config.redisUrl,
    onState: (state, error) => {
      if (state === 'reachable') log.info('rate limits are counted in Redis')
      else log.error({ err: error }, 'Redis cannot be reached; rate limits are counted in this process')
    },
  })
}
