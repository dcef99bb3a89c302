import type { Context } from '../../../context.ts'
import { claimRemovals, deleteRemoval, type Removal } from './store.ts'

const atOnce = 100

/** Removes from the store what nothing refers to any more, up to so many; says how many. What fails is tried again a while later. */
export async function removeBlobs(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, limit: number): Promise<number> {
  let removed = 0
  while (removed < limit) {
    const removals = await claimRemovals(ctx.db, Math.min(atOnce, limit - removed))
    for (const removal of removals) await removeNow(ctx, removal)
    removed += removals.length
    if (removals.length < atOnce) break
  }
  return removed
}

/** The row goes last: whoever is killed before leaves it to the next sweep, and removing twice is removing once. */
export async function removeNow(ctx: Pick<Context, 'db' | 'blobs' | 'log'>, removal: Removal): Promise<void> {
  const { target } = removal
  try {
    if (target.endsWith('/')) await ctx.blobs.deletePrefix(target)
    else await ctx.blobs.delete([target])
    await deleteRemoval(ctx.db, removal)
  } catch (error) {
    ctx.log.error({ err: error, target }, 'stored files not removed; trying again')
  }
}
