import { Batcher } from '@atrium/traffic/batcher'
import type { Shards } from '@atrium/traffic/shards'
import { isDataError } from '#db/sql-errors.ts'
import type { Db } from '#db/database.ts'
import { addItems, lockKeyOf, type AddOutcome, type NewItem } from './store.ts'

/** Adds items in batches: those that arrive while a batch commits share the next one. */
export type ItemAdder = Batcher<NewItem, AddOutcome>

/**
 * Calls `onAdded` after each batch has committed. A batch has items of one shard, so that a node that is down fails no
 * others.
 */
export function openItemAdder(db: Db, shards: Shards, onAdded: (tenantIds: string[]) => void = () => undefined): ItemAdder {
  return new Batcher({
    maxSize: 128,
    // Two batches at once: one is prepared and sent while the other commits. With shards, more of them are smaller.
    concurrency: shards.count > 1 ? 8 : 2,
    laneOf: ({ tenantId }) => shards.shardOf(tenantId),
    isAboutOneInput: isDataError,
    keysOf: (item) => [lockKeyOf(item)],
    bytesOf: (item) => item.content.length,
    run: async (items) => {
      const outcomes = await addItems(db, items)
      onAdded(items.map(({ tenantId }) => tenantId))
      return outcomes
    },
  })
}
