import { ApiError } from '../../../http/api-error.ts'
import type { HandlerOf } from '../../../http/call.ts'
import { deleteArtifact as deleteRow } from '../store.ts'

export const deleteArtifact: HandlerOf<'deleteArtifact'> = async (ctx, { tenant, params }) => {
  if (!(await deleteRow(ctx.db, tenant, params.id, params.artifactId))) throw new ApiError('not_found')
  return { status: 204 }
}
