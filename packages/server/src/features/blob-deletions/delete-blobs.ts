import type { Context } from '../context.ts'
import { claimBlobDeletions, forgetBlobDeletion, type BlobDeletion } from './store.ts'

const atOnce = 100

/** Removes from the store what nothing refers to any more, up to so many; says how many. What fails is tried again a while later. */
export async function deleteBlobs(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, limit: number): Promise<number> {
  let removed = 0
  while (removed < limit) {
    const deletions = await claimBlobDeletions(ctx.db, Math.min(atOnce, limit - removed))
    for (const deletion of deletions) await deleteBlobNow(ctx, deletion)
    removed += deletions.length
    if (deletions.length < atOnce) break
  }
  return removed
}

/** The row goes last: whoever is killed before leaves it to the next sweep, and removing twice is removing once. */
export async function deleteBlobNow(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, deletion: BlobDeletion): Promise<void> {
  const { target } = deletion
  try {
    if (target.endsWith('/')) await ctx.blobs.deletePrefix(target)
    else await ctx.blobs.delete([target])
    await forgetBlobDeletion(ctx.db, deletion)
  } catch (error) {
    ctx.log.error({ err: error, target }, 'stored files not removed; trying again')
  }
}
