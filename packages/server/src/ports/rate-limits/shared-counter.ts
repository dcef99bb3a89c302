import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'

/** A counter outside this process that counts for several processes. */
export interface SharedCounter {
  /** False while it is known not to answer. It is not called then. */
  readonly usable: boolean
  /** Rejects if it cannot count. */
  take(checks: RateCheck[]): RateDecision | Promise<RateDecision>
  /**
   * Reports that it answered late or wrongly too often. It stays unusable until checks in the background succeed.
   */
  trip(error: Error): void
  close(): void
}
