import { artifactPrefix, collectionPrefix, uploadKey, uploadPrefix } from '../blob-keys.ts'
import type { Removal } from './store.ts'

interface Place {
  tenantId: string
  collectionId: string
}

/** All that may be stored of an artifact: its bytes, their variants, and what was uploaded. */
export function removalsOfArtifact(place: Place, artifactId: string): Removal[] {
  const targets = [artifactPrefix(place, artifactId), uploadKey(place, artifactId)]
  return targets.map((target) => ({ tenantId: place.tenantId, target }))
}

export function removalsOfCollection(place: Place): Removal[] {
  return [collectionPrefix(place), uploadPrefix(place)].map((target) => ({ tenantId: place.tenantId, target }))
}
