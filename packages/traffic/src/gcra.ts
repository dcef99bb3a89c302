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

/** A millionth of slack: sums of binary fractions must not deny the last request of a burst. */
const slack = 1e-6

/**
 * The generic cell rate algorithm (ITU-T I.371): one number a key, its theoretical arrival time.
 * Pure: given where the arrival time stands, says how many of `wanted` requests pass and where it stands after them.
 */
export function gcra(arrivalMs: number | undefined, policy: RatePolicy, nowMs: number, wanted = 1) {
  const intervalMs = 1_000 / policy.perSecond
  const toleranceMs = intervalMs * policy.burst
  // Nothing that was counted stands further ahead than the burst: a clock that was set back, or a broken value, would refuse for ever.
  const base = Math.max(nowMs, Math.min(arrivalMs || 0, nowMs + toleranceMs))
  const free = Math.max(0, Math.floor((toleranceMs - (base - nowMs)) / intervalMs + slack))
  const passed = Math.min(wanted, free)
  const next = base + passed * intervalMs
  return {
    passed,
    next,
    remaining: free - passed,
    resetMs: passed > 0 ? next - nowMs : base + intervalMs - nowMs - toleranceMs,
  }
}
