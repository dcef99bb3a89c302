import { Batcher } from '@atrium/traffic/batcher'
import type { Shards } from '@atrium/traffic/shards'
import { isDataError } from '#db/sql-errors.ts'
import type { Db } from '#db/database.ts'
import { addItems, lockKeyOf, type AddOutcome, type NewItem } from './store.ts'

const checkFirstMs = 10_000
const maxCollections = 1_000

/** Adds items in batches: those that arrive while a batch commits share the next one. */
export class ItemAdder {
  readonly #batches: Batcher<NewItem, AddOutcome>
  /** Collections of which an item was unchecked. Until this time, the access to each is checked first. */
  readonly #checkFirst = new Map<string, number>()

  /**
   * Calls `onAdded` after a batch that added items has committed. A batch has items of one shard, so that a node that is
   * down fails no others.
   */
  constructor(db: Db, shards: Shards, onAdded: (tenantIds: string[]) => void = () => undefined) {
    this.#batches = new Batcher({
      maxSize: 128,
      // Two batches at once: one is prepared and sent while the other commits. With shards, more of them are smaller.
      concurrency: shards.count > 1 ? 8 : 2,
      laneOf: ({ tenantId }) => shards.shardOf(tenantId),
      isAboutOneInput: isDataError,
      keysOf: (item) => [lockKeyOf(item)],
      // Such an item is not checked yet. Its handler checks the token and adds the item again, which then waits.
      ifLocked: ({ tokenHash }) => (tokenHash ? 'locked' : undefined),
      bytesOf: (item) => item.content.length,
      run: async (items) => {
        const outcomes = await addItems(db, items)
        const added = items.filter((_, i) => outcomes[i] === 'added')
        if (added.length > 0) onAdded(added.map(({ tenantId }) => tenantId))
        return outcomes
      },
    })
  }

  /** How many items wait. */
  get waitingCount(): number {
    return this.#batches.waitingCount
  }

  /**
   * Whether the access is checked before an item of this collection is added, because an attempt without that check
   * would probably be in vain. A box needs the check for each item. Without it, callers without access would lock the
   * collection's row each time, or wait with the others while it is locked.
   */
  checksFirst(collectionId: string): boolean {
    const untilMs = this.#checkFirst.get(collectionId)
    return (untilMs !== undefined && performance.now() < untilMs) || this.#batches.isBlocked(collectionId)
  }

  async add(item: NewItem): Promise<AddOutcome> {
    const outcome = await this.#batches.add(item)
    if (outcome === 'unchecked') {
      if (this.#checkFirst.size >= maxCollections) this.#checkFirst.clear()
      this.#checkFirst.set(item.collectionId, performance.now() + checkFirstMs)
    }
    return outcome
  }
}
