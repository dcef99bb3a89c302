import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/deletions-of.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { deleteArtifact as deleteRow } from '../store.ts'

export const deleteArtifact: HandlerOf<'deleteArtifact'> = (ctx, { tenant, params }) =>
  ctx.db.lane(params.id).transaction(async (tx) => {
    if (!(await deleteRow(tx, tenant, params.id, params.artifactId))) throw new ApiError('not_found')
    await insertBlobDeletions(tx, blobDeletionsOfArtifact({ tenantId: tenant, collectionId: params.id }, params.artifactId))
    return { status: 204 }
  })
