import { artifactPrefix, collectionPrefix, uploadKey, uploadPrefix } from './blob-keys.ts'
import type { BlobDeletion } from './store.ts'

interface Place {
  tenantId: string
  collectionId: string
}

/** All that may be stored of an artifact: its bytes, their variants, and what was uploaded. */
export function blobDeletionsOfArtifact(place: Place, artifactId: string): BlobDeletion[] {
  const targets = [artifactPrefix(place, artifactId), uploadKey(place, artifactId)]
  return targets.map((target) => ({ tenantId: place.tenantId, target }))
}

export function blobDeletionsOfCollection(place: Place): BlobDeletion[] {
  return [collectionPrefix(place), uploadPrefix(place)].map((target) => ({ tenantId: place.tenantId, target }))
}
