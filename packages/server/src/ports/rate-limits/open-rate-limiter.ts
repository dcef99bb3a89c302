import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { Config } from '#config/config.ts'
import { Gauge, type Registry } from '#libraries/prom-client.js'
import { GuardedRateLimiter } from './guarded-rate-limiter.ts'
import { PrimaryCounter } from './primary-counter.ts'
import type { SharedCounter } from './shared-counter.ts'

/** A server starts even if Redis is unavailable, and counts in memory until it is available. */
const firstTryMs = 2_000

/**
 * Counts in Redis if it is configured, else together with the other processes of this machine, and alone if there
 * are none or they do not answer.
 */
export async function openRateLimiter(config: Pick<Config, 'redisUrls'>, registry: Registry, log: Logger): Promise<RateLimiter> {
  let redis: SharedCounter | undefined
  const unreachable: Gauge = new Gauge({
    name: 'atrium_redis_unreachable',
    help: 'API processes that count rate limits without Redis, although it is configured.',
    registers: [registry],
    collect: () => unreachable.set(redis?.usable === false ? 1 : 0),
  })
  const alone = new MemoryRateLimiter()
  // This is one of several processes that a primary process started: see api-cluster.ts.
  const local = cluster.isWorker ? new GuardedRateLimiter(new PrimaryCounter(), alone) : alone
  if (config.redisUrls.length === 0) return local
  // Loaded on demand: the client takes a tenth of the load time of an API process.
  const { RedisCounter } = await import('./redis-counter.ts')
  const counter = new RedisCounter({
    urls: config.redisUrls,
    onState: (state, error) => {
      if (state === 'reachable') log.info('rate limits are counted in Redis')
      else log.error({ err: error }, 'Redis cannot be reached; rate limits are counted on this machine')
    },
  })
  redis = counter
  await Promise.race([counter.firstTry, delay(firstTryMs, undefined, { ref: false })])
  return new GuardedRateLimiter(counter, local)
}
