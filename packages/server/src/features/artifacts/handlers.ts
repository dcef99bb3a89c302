import type { Handlers } from '../handler.ts'
import { createArtifact, curateArtifact, deleteArtifact } from './operations/curation.ts'
import { getArtifact, getMedia, listArtifacts } from './operations/reading.ts'
import { markArtifactReady, uploadArtifact } from './operations/uploads.ts'
import { paintArtifact, produceArtifact } from './operations/generation.ts'

export const artifactHandlers = {
  listArtifacts,
  createArtifact,
  getArtifact,
  curateArtifact,
  deleteArtifact,
  uploadArtifact,
  markArtifactReady,
  getMedia,
  paintArtifact,
  produceArtifact,
} satisfies Partial<Handlers>
