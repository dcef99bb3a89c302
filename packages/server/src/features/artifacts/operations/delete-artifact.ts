import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/blob-keys.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { deleteArtifact as deleteRow } from '../store.ts'

export const deleteArtifact: HandlerOf<'deleteArtifact'> = async ({ tx, tenantId, params }) => {
  if (!(await deleteRow(tx, tenantId, params.id, params.artifactId))) throw new ApiError('not_found')
  await insertBlobDeletions(tx, blobDeletionsOfArtifact({ tenantId, collectionId: params.id }, params.artifactId))
  return { status: 204 }
}
