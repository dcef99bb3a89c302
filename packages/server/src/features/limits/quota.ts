import type { Context } from '../context.ts'
import { limitsWith, type TenantLimits } from '#config/tenant-limits.ts'
import type { Db, Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { findOverrides, findStoredBytes } from './store.ts'

/** The tenant's limits: the installation's, except for those that an operator has overridden. */
export async function findLimits({ config }: Pick<Context, 'config'>, db: Db, tenantId: string): Promise<TenantLimits> {
  return limitsWith(config.limits, await findOverrides(db, tenantId))
}

/** The limits as the API returns them to operators. */
export async function readLimitsView({ config }: Pick<Context, 'config'>, db: Db, tenantId: string) {
  const overrides = await findOverrides(db, tenantId)
  return { limits: limitsWith(config.limits, overrides), overrides, stored_bytes_used: await findStoredBytes(db, tenantId) }
}

/**
 * Throws if these bytes, with those stored and those announced for upload, would exceed the tenant's quota. The check
 * is exact only if the caller holds the lock of the tenant's uploads (lockUploads), under which all that adds bytes is
 * decided.
 */
export async function assertQuota(
  ctx: Pick<Context, 'config'>,
  tx: Tx,
  tenantId: string,
  { bytes, announced }: { bytes: number; announced: number },
): Promise<void> {
  const { stored_bytes: limit } = await findLimits(ctx, tx, tenantId)
  const stored = await findStoredBytes(tx, tenantId)
  if (stored + announced + bytes > limit) throw quotaExceeded(stored, limit)
}

function quotaExceeded(stored: number, limit: number): ApiError {
  const message = `Your account may store ${limit} bytes. ${stored} bytes are stored, and announced uploads count too. Delete artifacts that you no longer need, or ask the operator of this installation for a higher quota.`
  return new ApiError('quota_exceeded', { message })
}
