import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'

/**
 * The algorithm of gcra.ts, run inside Redis so that all processes count together. It uses the clock of Redis,
 * because those of the processes may differ. All keys of a call have one hash tag (the first key), so that they are on
 * one node of a cluster. A stored value is not trusted: a value of another type, one that is not a number, or a time
 * further ahead than the burst (the clock was set back, or something else wrote it) is reset at once, because it would
 * otherwise refuse requests for ever.
 */
export const countScript = `
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local nexts = {}
local tightest, tightest_remaining, tightest_reset = 0, math.huge, 0
for i, key in ipairs(KEYS) do
  local interval = 1000 / tonumber(ARGV[i * 2 - 1])
  local tolerance = interval * tonumber(ARGV[i * 2])
  local stored = redis.pcall('get', key)
  local arrival = type(stored) == 'string' and tonumber(stored) or 0
  if arrival ~= arrival then arrival = 0 end
  if arrival > now + tolerance then
    arrival = now + tolerance
    redis.call('set', key, string.format('%.3f', arrival), 'px', math.ceil(tolerance) + 1)
  end
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

/** Throws if the script cannot have returned this reply: then the server is not a Redis that can count. */
export function readCount(reply: unknown, checks: RateCheck[]): RateDecision {
  if (!Array.isArray(reply) || reply.length !== 4) throw new Error('Redis gave a wrong answer')
  const [allowed, index, remaining, reset]: unknown[] = reply
  const policy = typeof index === 'number' ? checks[index - 1]?.policy : undefined
  const resetMs = typeof reset === 'string' && reset !== '' ? Number(reset) : NaN
  if (!policy || (allowed !== 0 && allowed !== 1)) throw new Error('Redis gave a wrong answer')
  const burstMs = (1_000 * policy.burst) / policy.perSecond
  if (!isWithin(remaining, policy.burst) || !isWithin(resetMs, burstMs + 1)) throw new Error('Redis gave a wrong answer')
  return { allowed: allowed === 1, policy, remaining: Math.floor(remaining), resetMs }
}

/** Also false for NaN. */
function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= most
}
