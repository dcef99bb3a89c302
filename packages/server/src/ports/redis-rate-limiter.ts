import { createClient } from '@redis/client'
import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'

/**
 * The same algorithm as gcra.ts, run inside Redis so that all processes count together. Redis's own clock is used: those of the processes
 * may differ. All keys of a call carry one hash tag, so that they live on one node of a cluster.
 */
const script = `
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local nexts = {}
local tightest, tightest_remaining, tightest_reset = 0, math.huge, 0
for i, key in ipairs(KEYS) do
  local interval = 1000 / tonumber(ARGV[i * 2 - 1])
  local tolerance = interval * tonumber(ARGV[i * 2])
  local arrival = tonumber(redis.call('get', key) or '0')
  local next = math.max(now, arrival) + interval
  local ahead = next - now
  if ahead > tolerance + 1e-6 then return { 0, i, 0, tostring(ahead - tolerance) } end
  local remaining = math.max(0, math.floor((tolerance - ahead) / interval + 1e-6))
  if remaining < tightest_remaining then tightest, tightest_remaining, tightest_reset = i, remaining, ahead end
  nexts[i] = next
end
for i, key in ipairs(KEYS) do
  redis.call('set', key, string.format('%.3f', nexts[i]), 'px', math.ceil(nexts[i] - now) + 1)
end
return { 1, tightest, tightest_remaining, tostring(tightest_reset) }
`

/** How long an answer of Redis is waited for before this process counts by itself. */
const patienceMs = 100

export interface RedisRateLimiterOptions {
  url: string
  /** Told once when Redis goes and once when it is back. */
  onState: (state: 'reachable' | 'unreachable', error?: Error) => void
}

/** Counts in Redis; while Redis cannot be reached, in memory: a limiter that fails must neither stop the service nor open it wide. */
export async function openRedisRateLimiter({ url, onState }: RedisRateLimiterOptions): Promise<RateLimiter> {
  const fallback = new MemoryRateLimiter()
  let reachable = false
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 2_000, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 2_000) },
  })
  const setReachable = (now: boolean, error?: Error) => {
    if (now !== reachable) onState(now ? 'reachable' : 'unreachable', error)
    reachable = now
  }
  client.on('ready', () => setReachable(true))
  client.on('error', (error: Error) => setReachable(false, error))
  client.on('end', () => setReachable(false))
  // Not awaited to the end: a server starts without its Redis, counting in memory until it comes.
  const connected = client.connect().catch((error: Error) => onState('unreachable', error))
  await Promise.race([connected, delay(2_000)])

  const inRedis = async (checks: RateCheck[]): Promise<RateDecision> => {
    const reply = (await client.eval(script, {
      keys: checks.map((check) => `{atrium}:rate:${check.key}`),
      arguments: checks.flatMap(({ policy }) => [String(policy.perSecond), String(policy.burst)]),
    })) as [number, number, number, string]
    const [allowed, index, remaining, resetMs] = reply
    return { allowed: allowed === 1, policy: checks[index - 1]!.policy, remaining, resetMs: Number(resetMs) }
  }

  return {
    take: (checks) => {
      if (!reachable) return fallback.take(checks)
      // Whatever keeps Redis from answering in time, the request goes on with this process's own count.
      return within(inRedis(checks), patienceMs).catch(() => fallback.take(checks))
    },
    close: async () => {
      client.destroy()
    },
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
