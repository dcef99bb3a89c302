import { ApiError } from '../../../http/api-error.ts'
import type { HandlerOf } from '../../../http/call.ts'
import { removalsOfArtifact } from '../removal/removals-of.ts'
import { insertRemovals } from '../removal/store.ts'
import { deleteArtifact as deleteRow } from '../store.ts'

export const deleteArtifact: HandlerOf<'deleteArtifact'> = (ctx, { tenant, params }) =>
  ctx.db.lane(params.id).transaction(async (tx) => {
    if (!(await deleteRow(tx, tenant, params.id, params.artifactId))) throw new ApiError('not_found')
    await insertRemovals(tx, removalsOfArtifact({ tenantId: tenant, collectionId: params.id }, params.artifactId))
    return { status: 204 }
  })
