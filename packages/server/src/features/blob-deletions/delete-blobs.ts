import type { Context } from '../context.ts'
import { areDeletionsHeld } from './hold-store.ts'
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
    // Checked after the claim: rows of a claimed deletion were gone before any hold that begins now. Deletions that
    // are claimed during a hold are retried after it.
    if (deletions.length > 0 && (await areDeletionsHeld(ctx.db))) break
    for (const deletion of deletions) await deleteBlobNow(ctx, deletion)
    tried += deletions.length
    if (deletions.length < batchSize) break
  }
  return tried
}

/**
 * Deletes at once what a transaction has queued. Call it after the commit: rows of the blobs were gone before any hold
 * that begins later. What a backup holds is left to the sweep.
 */
export async function deleteQueuedNow(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, deletions: BlobDeletion[]): Promise<void> {
  // Without an answer too: the sweep tries again.
  if (await areDeletionsHeld(ctx.db).catch(() => true)) return
  for (const deletion of deletions) await deleteBlobNow(ctx, deletion)
}

/**
 * Deletes the row last: if the process is killed before, the next sweep repeats the deletion, which has no further
 * effect.
 */
async function deleteBlobNow(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, deletion: BlobDeletion): Promise<void> {
  const { tenantId, target } = deletion
  try {
    if (target.endsWith('/')) await ctx.blobs.deletePrefix(target)
    else await ctx.blobs.delete([target])
    await deleteBlobDeletion(ctx.db, tenantId, target)
  } catch (error) {
    ctx.log.error({ err: error, target }, 'stored files not deleted; they are retried')
  }
}
