import type { RatePolicy } from '@atrium/contract/limits'

/** One limit to be counted: whose, and how much. */
export interface RateCheck {
  key: string
  policy: RatePolicy
}

export interface RateDecision {
  allowed: boolean
  /** The limit with the least left. */
  policy: RatePolicy
  remaining: number
  /** Milliseconds until one more request passes (denied) or until the whole burst is there again (allowed). */
  resetMs: number
}

/**
 * The generic cell rate algorithm (ITU-T I.371): one number a key, its theoretical arrival time.
 * Pure: given where the arrival times stand, says whether a request passes and where they stand after it.
 */
export function gcra(arrivalMs: number | undefined, policy: RatePolicy, nowMs: number) {
  const intervalMs = 1_000 / policy.perSecond
  const toleranceMs = intervalMs * policy.burst
  const next = Math.max(nowMs, arrivalMs ?? 0) + intervalMs
  const ahead = next - nowMs
  // A millionth of slack: sums of binary fractions must not deny the last request of a burst.
  const allowed = ahead <= toleranceMs + 1e-6
  return {
    allowed,
    next,
    remaining: Math.max(0, Math.floor((toleranceMs - ahead) / intervalMs + 1e-6)),
    resetMs: allowed ? ahead : ahead - toleranceMs,
  }
}
