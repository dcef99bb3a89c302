import { Batcher } from '@atrium/traffic/batcher'
import { isDataError } from '#db/sql-errors.ts'
import type { Db } from '#db/database.ts'
import { addItems, lockedBy, type AddOutcome, type NewItem } from './add-items.ts'

/** Adds items; those that arrive while the last batch commits share the next one. */
export type ItemAdder = Batcher<NewItem, AddOutcome>

/** `onAdded` is called when a batch has committed. */
export function openItemAdder(db: Db, onAdded: () => void = () => undefined): ItemAdder {
  // Two at once: one is prepared and sent while the other commits.
  return new Batcher({
    maxSize: 128,
    concurrency: 2,
    isAboutOneInput: isDataError,
    keysOf: (item) => [lockedBy(item)],
    bytesOf: (item) => item.content.length,
    run: async (items) => {
      const outcomes = await addItems(db, items)
      onAdded()
      return outcomes
    },
  })
}
