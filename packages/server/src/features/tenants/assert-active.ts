import { sqlStateOf } from '@atrium/traffic/database-errors'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { isTenantActive } from './store.ts'

/**
 * For a transaction that writes for a tenant. The key was checked before it, and since then the process may have been
 * paused or may have called another service. The gateway makes this check for each operation of the kind `write`, and
 * the ledger for the batches that open accounts. addItem does not need it: it locks the row of the collection, which
 * is deleted with the tenant.
 *
 * No lock is needed: a transaction lasts for seconds, and a deletion ends a minute or more after the suspension. So
 * either the deletion finds what was written, or this function finds the tenant suspended.
 */
export async function assertActive(tx: Tx, tenantId: string): Promise<void> {
  if (!(await isTenantActive(tx, tenantId))) throw new ApiError('tenant_suspended')
}

/**
 * Runs the statements of a write and assertActive. The check is sent with the first of them, so that it costs no round
 * trip.
 */
export async function runIfActive<T>(tx: Tx, tenantId: string | undefined, run: () => Promise<T>): Promise<T> {
  if (tenantId === undefined) return run()
  const isActive = assertActive(tx, tenantId)
  // If `run` fails, nobody may await the check.
  isActive.catch(() => undefined)
  try {
    const result = await run()
    await isActive
    return result
  } catch (error) {
    // in_failed_sql_transaction: an earlier statement failed. If that was the check, its error is thrown instead, because
    // only that error says whether to try again.
    if (sqlStateOf(error) === '25P02') await isActive
    throw error
  }
}
