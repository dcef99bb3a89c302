import type { RateCheck, RateDecision } from './gcra.ts'

/** Counts requests. Either all checks pass and count, or none counts. */
export interface RateLimiter {
  take(checks: RateCheck[]): RateDecision | Promise<RateDecision>
  close(): Promise<void>
}
