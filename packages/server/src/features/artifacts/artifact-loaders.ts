import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import type { LocatedArtifact } from './artifact.ts'
import { type PublicPreview, listArtifactsById, listPublicPreviews } from './store.ts'

/** Finds artifacts by their ids alone. Loads of one moment share a query. */
export interface MediaLoader {
  load: (artifactId: string) => Promise<LocatedArtifact | undefined>
}

export function openMediaLoader(db: Db): MediaLoader {
  const loads = new Batcher<string, LocatedArtifact | undefined>({
    maxSize: 16,
    concurrency: 4,
    run: async (ids) => {
      const found = new Map((await listArtifactsById(db, [...new Set(ids)])).map((artifact) => [artifact.id, artifact]))
      return ids.map((id) => found.get(id))
    },
  })
  return { load: (artifactId) => loads.add(artifactId) }
}

/** Reads the public preview of a collection. Loads of one moment share a query. */
export interface PreviewLoader {
  load: (tenantId: string, collectionId: string) => Promise<PublicPreview>
}

export function openPreviewLoader(db: Db): PreviewLoader {
  const loads = new Batcher<{ tenantId: string; collectionId: string }, PublicPreview>({
    maxSize: 256,
    concurrency: 4,
    run: async (collections) => {
      const previews = await listPublicPreviews(db, collections)
      return collections.map(({ collectionId }) => previews.get(collectionId) ?? {})
    },
  })
  return { load: (tenantId, collectionId) => loads.add({ tenantId, collectionId }) }
}
