import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { Config } from '#config/config.ts'
import { GuardedRateLimiter } from './guarded-rate-limiter.ts'
import { PrimaryCounter } from './primary-counter.ts'
import { RedisCounter } from './redis-counter.ts'

/** A server starts without its Redis, counting in memory until it comes. */
const firstTryMs = 2_000

/**
 * In Redis where there is one, else with the processes of this machine; by itself where it is the only one, or the
 * others do not answer.
 */
export async function openRateLimiter(config: Pick<Config, 'redisUrl'>, log: Logger): Promise<RateLimiter> {
  const alone = new MemoryRateLimiter()
  // One of several that a primary process started: see workers.ts.
  const local = cluster.isWorker ? new GuardedRateLimiter(new PrimaryCounter(), alone) : alone
  if (!config.redisUrl) return local
  const redis = new RedisCounter({
    url: config.redisUrl,
    onState: (state, error) => {
      if (state === 'reachable') log.info('rate limits are counted in Redis')
      else log.error({ err: error }, 'Redis cannot be reached; rate limits are counted on this machine')
    },
  })
  await Promise.race([redis.firstTry, delay(firstTryMs, undefined, { ref: false })])
  return new GuardedRateLimiter(redis, local)
}
