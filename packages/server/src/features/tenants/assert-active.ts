import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { findTenant } from './store.ts'

/**
 * For a write of money after a call to another service: the key was checked before it, and the process may have been
 * stopped since. Without a lock: a transaction lasts for seconds, and a deletion ends at the earliest a minute after the
 * suspension. So the deletion finds what was written, or this finds the tenant suspended.
 */
export async function assertActive(tx: Tx, tenantId: string): Promise<void> {
  if ((await findTenant(tx, tenantId))?.status !== 'active') throw new ApiError('tenant_suspended')
}
