import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '../../db/database.ts'
import type { Artifact } from './artifact.ts'
import { listHeroes } from './store.ts'

/** Reads the public hero of a collection; the reads of one moment share a query. */
export type HeroReader = Batcher<{ tenantId: string; id: string }, Artifact | undefined>

export function openHeroReader(db: Db): HeroReader {
  return new Batcher({
    maxSize: 256,
    concurrency: 4,
    run: async (collections) => {
      const heroes = await listHeroes(db, collections)
      return collections.map(({ id }) => heroes.get(id))
    },
  })
}
