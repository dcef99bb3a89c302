import type { Context } from '#features/context.ts'
import { deleteExpiredUploads } from './store.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/deletions-of.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'

/** Removes the artifacts whose upload was never completed, up to so many; says how many. */
export function expireUploads(ctx: Pick<Context, 'db'>, limit: number): Promise<number> {
  return ctx.db.transaction(async (tx) => {
    const expired = await deleteExpiredUploads(tx, limit)
    await insertBlobDeletions(
      tx,
      expired.flatMap((upload) => blobDeletionsOfArtifact(upload, upload.artifactId)),
    )
    return expired.length
  })
}
