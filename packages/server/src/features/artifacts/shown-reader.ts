import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import { listShown, type Shown } from './store.ts'

/** Reads what a collection shows of its artifacts to everyone; the reads of one moment share a query. */
export type ShownReader = Batcher<{ tenantId: string; id: string }, Shown>

export function openShownReader(db: Db): ShownReader {
  return new Batcher({
    maxSize: 256,
    concurrency: 4,
    run: async (collections) => {
      const shown = await listShown(db, collections)
      return collections.map(({ id }) => shown.get(id) ?? {})
    },
  })
}
