import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { artifactView } from '../artifact.ts'
import { assertShown } from '../assert-shown.ts'
import { findArtifact } from '../store.ts'

export const getArtifact: HandlerOf<'getArtifact'> = async ({ ctx, tenantId, params, headers, owner }) => {
  const artifact = await findArtifact(ctx.db, tenantId, params.id, params.artifactId)
  if (!artifact) throw new ApiError('not_found')
  if (!owner) await assertShown(ctx, headers, { ...artifact, tenantId })
  return { status: 200, data: artifactView(artifact) }
}
