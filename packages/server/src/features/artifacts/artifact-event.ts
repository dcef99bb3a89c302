import type { Artifact } from './artifact.ts'

/** What events tell of an artifact. */
export function artifactEvent(collectionId: string, { id, kind, source }: Pick<Artifact, 'id' | 'kind' | 'source'>) {
  return { collection_id: collectionId, artifact_id: id, kind, source }
}
