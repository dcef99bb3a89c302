import type { RatePolicy } from '@atrium/contract/request-limits'

/** One limit to be counted: its key, and its policy. */
export interface RateCheck {
  key: string
  policy: RatePolicy
}

export interface RateDecision {
  allowed: boolean
  /** The limit with the fewest requests left. */
  policy: RatePolicy
  remaining: number
  /** Milliseconds until one more request passes (denied) or until the whole burst is available again (allowed). */
  resetMs: number
}

/** A tolerance of a millionth: rounding of binary fractions must not deny the last request of a burst. */
const slack = 1e-6

/**
 * The generic cell rate algorithm (ITU-T I.371), which needs one number per key: its theoretical arrival time. A
 * pure function: from the arrival time, it computes how many of `wanted` requests pass, and the next arrival time.
 */
export function gcra(arrivalMs: number | undefined, policy: RatePolicy, nowMs: number, wanted = 1) {
  const intervalMs = 1_000 / policy.perSecond
  const toleranceMs = intervalMs * policy.burst
  // An arrival time is never further ahead than the burst. Otherwise the clock was set back, or the value is
  // damaged, and it would refuse requests for ever.
  const base = Math.max(nowMs, Math.min(arrivalMs || 0, nowMs + toleranceMs))
  const free = Math.max(0, Math.floor((toleranceMs - (base - nowMs)) / intervalMs + slack))
  const passed = Math.min(wanted, free)
  const next = base + passed * intervalMs
  const resetMs = passed > 0 ? next - nowMs : base + intervalMs - nowMs - toleranceMs
  return { passed, next, remaining: free - passed, resetMs }
}
