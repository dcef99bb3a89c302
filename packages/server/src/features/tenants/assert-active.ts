import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { findTenant } from './store.ts'

/**
 * For a transaction that writes credits or payments after a call to another service. The key was checked before that
 * call, and the process may have been stopped since. No lock is needed: a transaction lasts for seconds, and a
 * deletion ends a minute after the suspension at the earliest. So either the deletion finds what was written, or
 * this function finds the tenant suspended.
 */
export async function assertActive(tx: Tx, tenantId: string): Promise<void> {
  if ((await findTenant(tx, tenantId))?.status !== 'active') throw new ApiError('tenant_suspended')
}
