import { Batcher } from '@atrium/traffic/batcher'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { hashText } from '@atrium/traffic/shards'
import type { Database } from '#db/database.ts'
import { isPassing } from '#db/is-passing.ts'
import { isStatementTimeout } from '#db/sql-errors.ts'
import type { ShardGuard } from '#features/distribution/shard-guard.ts'
import { type Outcome, writeOutcomes } from '../delivery-store.ts'
import { writeSpreadOutcomes } from '../spread-outcome-store.ts'
import { isDefault, keyOf } from '../webhook.ts'

/** The pause before a node that is down, or a row that is locked, is tried again; at most four times as long. */
const pauseMs = 250

interface Writers {
  together: Batcher<Outcome, void>
  /** For endpoints whose rows have made a statement time out: each has statements of its own. */
  apart: Batcher<Outcome, void>
}

/** Writes the outcomes of attempts. Those that arrive while a batch is written share the next batch. */
export class OutcomeWriter {
  readonly #guard: ShardGuard
  readonly #open: () => Writers
  /** For each shard, so that a node which does not answer delays the outcomes of its own tenants only. */
  readonly #writers = new Map<number, Writers>()

  constructor(db: Database, owner: string, guard: ShardGuard) {
    this.#guard = guard
    const run = (outcomes: Outcome[]) =>
      guard.shards.isSpread && outcomes[0]
        ? guard.run(outcomes[0].tenantId, () => writeSpreadOutcomes(db, owner, outcomes))
        : writeOutcomes(db, owner, outcomes)
    const kindOf = (outcome: Outcome) => (isDefault(outcome) ? 0 : 1)
    const open = (concurrency: number, laneOf: (outcome: Outcome) => number) =>
      new Batcher({
        maxSize: 256,
        concurrency,
        // Such as a value that a constraint refuses, or a row on a damaged page.
        isAboutOneInput: (error) => !isPassing(error),
        laneOf,
        keysOf: (outcome) => [keyOf(outcome)],
        run,
      })
    this.#open = () => ({
      together: open(1, kindOf),
      apart: open(2, (outcome) => hashText(keyOf(outcome)) * 2 + kindOf(outcome)),
    })
  }

  /**
   * Resolves when the outcome is written, or does not count because the lease is lost. While a row is locked or a node is
   * down, it waits here: an endpoint whose answer is not written down receives the delivery again. An endpoint waits with
   * it for a free request, so at most 16 outcomes of each endpoint are here. `signal` ends the waiting.
   */
  add(outcome: Outcome, signal: AbortSignal): Promise<void> {
    const shard = this.#guard.shards.shardOf(outcome.tenantId)
    const writers = this.#writers.get(shard) ?? this.#open()
    this.#writers.set(shard, writers)
    let writer = writers.together
    const write = () =>
      writer.add(outcome).catch((error: unknown) => {
        // Which outcome of the batch took so long is not known. So that it does not hold up the others again and again,
        // each endpoint goes on by itself.
        if (isStatementTimeout(error)) writer = writers.apart
        throw error
      })
    return keepTrying(write, { signal, isPassing, pauseMs })
  }
}
