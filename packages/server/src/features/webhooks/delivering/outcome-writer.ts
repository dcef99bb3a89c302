import { Batcher } from '@atrium/traffic/batcher'
import type { Database } from '#db/database.ts'
import type { ShardGuard } from '#features/distribution/shard-guard.ts'
import { type Outcome, writeOutcomes } from '../delivery-store.ts'
import { writeSpreadOutcomes } from '../spread-outcome-store.ts'
import { isDefault, keyOf } from '../webhook.ts'

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
        laneOf: (outcome) => (isDefault(outcome) ? 0 : 1),
        keysOf: (outcome) => [keyOf(outcome)],
        run,
      })
  }

  add(outcome: Outcome): Promise<void> {
    const shard = this.#guard.shards.shardOf(outcome.tenantId)
    const batcher = this.#batchers.get(shard) ?? this.#open()
    this.#batchers.set(shard, batcher)
    return batcher.add(outcome)
  }
}
