import type { Context } from '../context.ts'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { limitsOf } from './daily-limits.ts'
import { findStoredBytes } from './store.ts'

/**
 * Throws where the tenant's artifacts, with what else is announced, would come to more than its quota. Exact where the caller holds the lock of
 * the tenant's uploads (lockUploads), under which all that adds bytes decides.
 */
export async function assertQuota(
  ctx: Pick<Context, 'config'>,
  tx: Tx,
  tenantId: string,
  { bytes, announced }: { bytes: number; announced: number },
): Promise<void> {
  const { stored_bytes: limit } = await limitsOf(ctx, tx, tenantId)
  const stored = await findStoredBytes(tx, tenantId)
  if (stored + announced + bytes > limit) throw quotaExceeded(stored, limit)
}

function quotaExceeded(stored: number, limit: number): ApiError {
  const message = `Your account may store ${limit} bytes: ${stored} are stored, and what is announced counts too. Delete artifacts that you no longer need, or ask those who run this installation for more.`
  return new ApiError('quota_exceeded', { message })
}
