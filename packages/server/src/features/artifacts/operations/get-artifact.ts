import { ApiError } from '../../../http/api-error.ts'
import type { HandlerOf } from '../../../http/call.ts'
import { artifactView, isPublic } from '../artifact.ts'
import { findArtifact } from '../store.ts'

export const getArtifact: HandlerOf<'getArtifact'> = async (ctx, { tenant, params, owner }) => {
  const artifact = await findArtifact(ctx.db, tenant, params.id, params.artifactId)
  if (!artifact || !(owner || isPublic(artifact))) throw new ApiError('not_found')
  return { status: 200, data: artifactView(artifact) }
}
