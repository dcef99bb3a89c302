import type { Context } from '../../../context.ts'
import { deleteExpiredUploads } from '../uploads/store.ts'
import { removalsOfArtifact } from './removals-of.ts'
import { insertRemovals } from './store.ts'

/** Removes the artifacts whose upload was never completed, up to so many; says how many. */
export function expireUploads(ctx: Pick<Context, 'db'>, limit: number): Promise<number> {
  return ctx.db.transaction(async (tx) => {
    const expired = await deleteExpiredUploads(tx, limit)
    await insertRemovals(
      tx,
      expired.flatMap((upload) => removalsOfArtifact(upload, upload.artifactId)),
    )
    return expired.length
  })
}
