import type { Context } from '../context.ts'
import type { Db } from '#db/database.ts'
import { findOverrides, findStoredBytes } from './store.ts'
import { limitsWith } from '#config/tenant-limits.ts'

export async function readLimitsView({ config }: Pick<Context, 'config'>, db: Db, tenantId: string) {
  const overrides = await findOverrides(db, tenantId)
  return { limits: limitsWith(config.limits, overrides), overrides, stored_bytes_used: await findStoredBytes(db, tenantId) }
}
