import type { PlacedArtifact } from '../store.ts'

/** An artifact whose bytes are here, and what they are. */
export type StoredArtifact = PlacedArtifact & { mime: string; bytes: number; sha256: string }

/** Whether the bytes are here: not those of one that is not made yet, or hosted elsewhere. */
export function isStored(artifact: PlacedArtifact): artifact is StoredArtifact {
  const { status, source, mime, bytes, sha256 } = artifact
  return status === 'ready' && source !== 'url' && mime !== null && bytes !== null && sha256 !== null
}
