import type { Tx } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import { insertAuditEntry } from '#features/audit-log/audit-log-store.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import type { Context } from '#features/context.ts'
import { stopSessionsOfTenant } from '#features/sessions/session-transitions.ts'
import {
  findDeletionForUpdate,
  finishDeletion,
  listDueDeletions,
  type TenantDeletion,
  updateProgress,
} from '#features/tenants/deletion-store.ts'
import { eraseBatch, isBusy, isSomethingLeft } from './erase-store.ts'

/** The batches of one call. A sweep can then soon notice that the process stops or that its lease is lost. */
const maxBatches = 20

type Needs = Pick<Context, 'db'>

/**
 * Continues the due deletions. Each batch is a transaction, so if the process is killed, the next sweep continues
 * the deletion. Returns whether there is more to do at once. A deletion that fails, for example because of a locked
 * row, does not hold up the others: the first error is thrown once none of the others has more to do at once.
 */
export async function eraseTenants(ctx: Needs): Promise<boolean> {
  let isMore = false
  const failed: { reason: unknown }[] = []
  for (const deletion of await listDueDeletions(ctx.db))
    try {
      if (await eraseTenant(ctx, deletion)) isMore = true
    } catch (reason) {
      failed.push({ reason })
    }
  if (failed[0] && !isMore) throw failed[0].reason
  return isMore
}

async function eraseTenant(ctx: Needs, { tenantId }: TenantDeletion): Promise<boolean> {
  const begun = await ctx.db.transaction((tx) => begin(tx, tenantId))
  if (!begun) return false
  await stopSessionsOfTenant(ctx, tenantId)
  for (let batch = 0; batch < maxBatches; batch++)
    if ((await ctx.db.transaction((tx) => eraseOnce(tx, tenantId))) === 'wait') return false
  return true
}

/** From here on the deletion cannot be cancelled. */
async function begin(tx: Tx, tenantId: string): Promise<boolean> {
  const deletion = await findDeletionForUpdate(tx, tenantId)
  if (!deletion || deletion.finishedAt !== null) return false
  await updateProgress(tx, tenantId, {})
  return true
}

/** wait: nothing can be done now, because the rest takes time or the deletion has ended. */
async function eraseOnce(tx: Tx, tenantId: string): Promise<'more' | 'wait'> {
  const deletion = await findDeletionForUpdate(tx, tenantId)
  if (!deletion || deletion.finishedAt !== null || (await isBusy(tx, tenantId))) return 'wait'
  const rows = await eraseBatch(tx, tenantId)
  if (rows > 0) {
    await updateProgress(tx, tenantId, { rows })
    return 'more'
  }
  if (deletion.blobsQueuedAt === null) {
    // After the rows, so that nothing refers to a blob any more.
    await insertBlobDeletions(
      tx,
      [`${tenantId}/`, `uploads/${tenantId}/`].map((target) => ({ tenantId, target })),
    )
    await updateProgress(tx, tenantId, { areBlobsQueued: true })
    return 'wait'
  }
  if (await isSomethingLeft(tx, tenantId)) return 'wait'
  await finishDeletion(tx, tenantId)
  await insertAuditEntry(tx, {
    id: newId('auditEntry'),
    tenantId,
    actor: { kind: 'system', id: null, name: null },
    operation: 'eraseTenant',
    targets: { tenant_id: tenantId, rows: deletion.rowsRemoved },
    outcome: 'done',
    code: null,
    address: null,
    requestId: null,
  })
  return 'wait'
}
