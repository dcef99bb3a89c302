import type { Handlers } from '../handler.ts'
import { createArtifact } from './operations/create-artifact.ts'
import { curateArtifact } from './operations/curate-artifact.ts'
import { deleteArtifact } from './operations/delete-artifact.ts'
import { getMedia } from './operations/get-media.ts'
import { markArtifactReady } from './operations/mark-artifact-ready.ts'
import { paintArtifact } from './operations/paint-artifact.ts'
import { produceArtifact } from './operations/produce-artifact.ts'
import { getArtifact, listArtifacts } from './operations/read-artifacts.ts'
import { uploadArtifact } from './operations/upload-artifact.ts'

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
