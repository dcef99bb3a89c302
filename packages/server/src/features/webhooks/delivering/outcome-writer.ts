import { Batcher } from '@atrium/traffic/batcher'
import { keepTrying } from '@atrium/traffic/keep-trying'
import type { Database } from '#db/database.ts'
import { isPassing } from '#db/is-passing.ts'
import { isDataError } from '#db/sql-errors.ts'
import type { ShardGuard } from '#features/distribution/shard-guard.ts'
import { type Outcome, writeOutcomes } from '../delivery-store.ts'
import { writeSpreadOutcomes } from '../spread-outcome-store.ts'
import { isDefault, keyOf } from '../webhook.ts'

/** The pause before a node that is down, or a row that is locked, is tried again; at most four times as long. */
const pauseMs = 250

/** Writes the outcomes of attempts. Those that arrive while a batch is written share the next batch. */
export class OutcomeWriter {
  readonly #guard: ShardGuard
  readonly #open: () => Batcher<Outcome, void>
  /** One for each shard, so that a node which does not answer delays the outcomes of its own tenants only. */
  readonly #batchers = new Map<number, Batcher<Outcome, void>>()

  constructor(db: Database, owner: string, guard: ShardGuard) {
    this.#guard = guard
    const run = (outcomes: Outcome[]) =>
      guard.shards.isSpread && outcomes[0]
        ? guard.run(outcomes[0].tenantId, () => writeSpreadOutcomes(db, owner, outcomes))
        : writeOutcomes(db, owner, outcomes)
    this.#open = () =>
      new Batcher({
        maxSize: 256,
        concurrency: 1,
        isAboutOneInput: isDataError,
        laneOf: (outcome) => (isDefault(outcome) ? 0 : 1),
        keysOf: (outcome) => [keyOf(outcome)],
        run,
      })
  }

  /**
   * Resolves when the outcome is written, or does not count because the lease is lost. While a row is locked or a node is
   * down, it waits here: an endpoint whose answer is not written down receives the delivery again. An endpoint waits with
   * it for a free request, so at most 16 outcomes of each endpoint are here. `signal` ends the waiting.
   */
  add(outcome: Outcome, signal: AbortSignal): Promise<void> {
    const shard = this.#guard.shards.shardOf(outcome.tenantId)
    const batcher = this.#batchers.get(shard) ?? this.#open()
    this.#batchers.set(shard, batcher)
    return keepTrying(() => batcher.add(outcome), { signal, isPassing, pauseMs })
  }
}
