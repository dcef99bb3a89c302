import { Batcher } from '@atrium/traffic/batcher'
import { isDataError } from '#db/sql-errors.ts'
import type { Db } from '#db/database.ts'
import { addItems, lockKeyOf, type AddOutcome, type NewItem } from './store.ts'

/** Adds items in batches: those that arrive while a batch commits share the next one. */
export type ItemAdder = Batcher<NewItem, AddOutcome>

/** Calls `onAdded` after each batch has committed. */
export function openItemAdder(db: Db, onAdded: () => void = () => undefined): ItemAdder {
  // Two batches at once: one is prepared and sent while the other commits.
  return new Batcher({
    maxSize: 128,
    concurrency: 2,
    isAboutOneInput: isDataError,
    keysOf: (item) => [lockKeyOf(item)],
    bytesOf: (item) => item.content.length,
    run: async (items) => {
      const outcomes = await addItems(db, items)
      onAdded()
      return outcomes
    },
  })
}
