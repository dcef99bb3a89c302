import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'

/** Counts for several processes, somewhere else than in this one. */
export interface SharedCounter {
  /** False while it is known not to answer: then it is not asked at all. */
  readonly usable: boolean
  /** Rejects where it cannot count. */
  take(checks: RateCheck[]): RateDecision | Promise<RateDecision>
  /**
   * It answers too late or wrongly, too often. Not usable until it has proved itself again, which it tries by itself,
   * in the background.
   */
  trip(error: Error): void
  close(): void
}
