import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import { listArtifactsById, type PlacedArtifact } from '../store.ts'

/** Finds artifacts by their ids alone; the reads of one moment share a query. */
export type MediaReader = Batcher<string, PlacedArtifact | undefined>

export function openMediaReader(db: Db): MediaReader {
  return new Batcher({
    maxSize: 16,
    concurrency: 4,
    run: async (ids) => {
      const found = new Map((await listArtifactsById(db, [...new Set(ids)])).map((artifact) => [artifact.id, artifact]))
      return ids.map((id) => found.get(id))
    },
  })
}
