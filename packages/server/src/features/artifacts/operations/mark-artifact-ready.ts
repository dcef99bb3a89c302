import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { artifactView } from '../artifact.ts'
import { findArtifact } from '../store.ts'
import { completeUpload } from '../uploads/complete-upload.ts'

export const markArtifactReady: HandlerOf<'markArtifactReady'> = async ({ ctx, tenantId, params }) => {
  const find = () => findArtifact(ctx.db, tenantId, params.id, params.artifactId)
  const before = await find()
  if (!before) throw new ApiError('not_found')
  if (before.source !== 'upload') throw new ApiError('state_conflict', { message: 'This artifact was not uploaded.' })
  if (before.status === 'painting')
    await completeUpload(ctx, { tenantId, collectionId: params.id, artifactId: params.artifactId })
  const artifact = before.status === 'painting' ? await find() : before
  if (!artifact) throw new ApiError('not_found')
  if (artifact.status === 'ready') return { status: 200, data: artifactView(artifact) }
  // Another call has taken over the check, which still runs.
  if (artifact.status === 'painting') throw new ApiError('unavailable', { retryAfterSeconds: 5 })
  throw new ApiError('upload_mismatch', artifact.error ? { message: artifact.error.message } : {})
}
