import type { RateCheck, RateDecision } from './gcra.ts'

/** Counts requests. All checks pass and count together, or none counts. */
export interface RateLimiter {
  take(checks: RateCheck[]): RateDecision | Promise<RateDecision>
  close(): Promise<void>
}
