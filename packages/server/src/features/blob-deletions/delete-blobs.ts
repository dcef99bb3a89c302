import type { Context } from '../context.ts'
import { claimBlobDeletions, deleteBlobDeletion, type BlobDeletion } from './store.ts'

const batchSize = 100

/**
 * Deletes up to `limit` targets that no row refers to any more. Returns how many it tried; one that fails is retried
 * later.
 */
export async function deleteBlobs(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, limit: number): Promise<number> {
  let tried = 0
  while (tried < limit) {
    const deletions = await claimBlobDeletions(ctx.db, Math.min(batchSize, limit - tried))
    for (const deletion of deletions) await deleteBlobNow(ctx, deletion)
    tried += deletions.length
    if (deletions.length < batchSize) break
  }
  return tried
}

/**
 * Deletes the row last: if the process is killed before, the next sweep repeats the deletion, which has no further
 * effect.
 */
export async function deleteBlobNow(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, deletion: BlobDeletion): Promise<void> {
  const { tenantId, target } = deletion
  try {
    if (target.endsWith('/')) await ctx.blobs.deletePrefix(target)
    else await ctx.blobs.delete([target])
    await deleteBlobDeletion(ctx.db, tenantId, target)
  } catch (error) {
    ctx.log.error({ err: error, target }, 'stored files not deleted; they are retried')
  }
}
