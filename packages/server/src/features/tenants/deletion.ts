import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { findDeletion } from './deletion-store.ts'

/** Throws if the tenant is deleted, or will be. */
export async function assertNotDeleted(tx: Tx, tenantId: string): Promise<void> {
  const deletion = await findDeletion(tx, tenantId)
  if (deletion)
    throw new ApiError('state_conflict', {
      message:
        deletion.startedAt === null ? 'The tenant is about to be deleted. Cancel the deletion first.' : 'The tenant is deleted.',
    })
}
