import { artifactPrefix } from '#features/blob-deletions/blob-keys.ts'
import { deleteQueuedNow } from '#features/blob-deletions/delete-blobs.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import type { Context } from '#features/context.ts'
import { findArtifact } from './store.ts'

interface ArtifactRef {
  tenantId: string
  collectionId: string
  artifactId: string
}

/**
 * Deletes the blobs of an artifact that was deleted or has failed while one was made: it may have been stored after the
 * queued deletion ran. Neither state is ever left, so nothing can serve these blobs later. They are queued again: a
 * backup that runs may have a row from when the artifact was ready.
 */
export async function deleteUnserved(
  ctx: Pick<Context, 'db' | 'blobs' | 'log'>,
  { tenantId, collectionId, artifactId }: ArtifactRef,
): Promise<void> {
  const artifact = await findArtifact(ctx.db, tenantId, collectionId, artifactId)
  if (artifact?.status === 'painting' || artifact?.status === 'ready') return
  const deletions = [{ tenantId, target: artifactPrefix({ tenantId, collectionId }, artifactId) }]
  await ctx.db.lane(tenantId).transaction((tx) => insertBlobDeletions(tx, deletions))
  await deleteQueuedNow(ctx, deletions)
}
