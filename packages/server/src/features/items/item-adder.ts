import { Batcher } from '@atrium/traffic/batcher'
import { isDataError } from '../../db/sql-errors.ts'
import type { Db } from '../../db/database.ts'
import { addItems, type AddOutcome, type NewItem } from './add-items.ts'

/** Adds items; those that arrive while the last batch commits share the next one. */
export type ItemAdder = Batcher<NewItem, AddOutcome>

export function openItemAdder(db: Db): ItemAdder {
  // Two at once: one is prepared and sent while the other commits. More would only wait for each other's locks.
  return new Batcher({ maxSize: 128, concurrency: 2, isAboutOneInput: isDataError, run: (items) => addItems(db, items) })
}
