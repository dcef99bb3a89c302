import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { Config } from '#config/config.ts'
import { GuardedRateLimiter } from './guarded-rate-limiter.ts'
import { PrimaryCounter } from './primary-counter.ts'

/** A server starts even if Redis is unavailable, and counts in memory until it is available. */
const firstTryMs = 2_000

/**
 * Counts in Redis if it is configured, else together with the other processes of this machine, and alone if there
 * are none or they do not answer.
 */
export async function openRateLimiter(config: Pick<Config, 'redisUrls'>, log: Logger): Promise<RateLimiter> {
  const alone = new MemoryRateLimiter()
  // This is one of several processes that a primary process started: see api-cluster.ts.
  const local = cluster.isWorker ? new GuardedRateLimiter(new PrimaryCounter(), alone) : alone
  if (config.redisUrls.length === 0) return local
  // Loaded on demand: the client takes a tenth of the load time of an API process.
  const { RedisCounter } = await import('./redis-counter.ts')
  const redis = new RedisCounter({
    urls: config.redisUrls,
    onState: (state, error) => {
      if (state === 'reachable') log.info('rate limits are counted in Redis')
      else log.error({ err: error }, 'Redis cannot be reached; rate limits are counted on this machine')
    },
  })
  await Promise.race([redis.firstTry, delay(firstTryMs, undefined, { ref: false })])
  return new GuardedRateLimiter(redis, local)
}
