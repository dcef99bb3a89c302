import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { isTenantActive } from './store.ts'

/**
 * For a transaction that writes for a tenant. The key was checked before it, and since then the process may have been
 * paused or may have called another service. The gateway calls this for each operation of the kind `write`. addItem
 * does not need it: it locks the row of the collection, which is deleted with the tenant.
 *
 * No lock is needed: a transaction lasts for seconds, and a deletion ends a minute or more after the suspension. So
 * either the deletion finds what was written, or this function finds the tenant suspended.
 */
export async function assertActive(tx: Tx, tenantId: string): Promise<void> {
  if (!(await isTenantActive(tx, tenantId))) throw new ApiError('tenant_suspended')
}
