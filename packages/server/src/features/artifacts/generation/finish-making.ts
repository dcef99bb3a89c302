import type { Context } from '#features/context.ts'
import type { Tx } from '#db/database.ts'
import { revenueAccount } from '#features/credits/ledger/account.ts'
import { postMovements } from '#features/credits/ledger/post.ts'
import { ApiError } from '#errors/api-error.ts'
import { assertQuota } from '#features/limits/quota.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { artifactEvent } from '../artifact-event.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/deletions-of.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { countOpenUploads } from '../uploads/store.ts'
import { mediaAddress } from '../media-address.ts'
import { findArtifactForUpdate, updateFailed, updateMade } from '../store.ts'
import { MakingFailed, type Job, type Made } from './job.ts'
import { deleteJob, returnAllowance } from './job-store.ts'
import { makingHoldId } from './start-making.ts'

/** What is known of a blob that was stored. */
export interface Stored extends Omit<Made, 'bytes'> {
  bytes: number
  sha256: string
}

/** Makes the artifact ready and charges for it, together and once; false: the job was another's by then. */
export async function finishReady(ctx: Context, job: Job, owner: string, stored: Stored): Promise<boolean> {
  const { tenantId, collectionId, artifactId } = job
  const url = mediaAddress(ctx.config, artifactId)
  const done = await ctx.db.transaction(async (tx) => {
    // Before the artifact: whoever announces an upload holds this lock, and may wait for one who deletes the collection and its artifacts.
    const { bytes: announced } = await countOpenUploads(tx, tenantId, collectionId)
    if (!(await endJob(tx, job, owner))) return false
    await assertFits(ctx, tx, job, { bytes: stored.bytes, announced })
    await updateMade(tx, tenantId, collectionId, { id: artifactId, url, ...stored })
    await settle(tx, job, true)
    await recordEvent(tx, tenantId, 'artifact.ready', eventOf(job))
    return true
  })
  if (done && job.work === 'paint') ctx.usageCounter.count(tenantId, 'paints', 1)
  return done
}

/** Ends it without a picture: nothing is charged, and a free paint comes back. */
export async function finishFailed(ctx: Context, job: Job, owner: string, { code, message }: MakingFailed): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    if (!(await endJob(tx, job, owner))) return false
    const status = code === 'quota_exceeded' ? 'quota_exceeded' : 'failed'
    await updateFailed(tx, job.tenantId, job.collectionId, { id: job.artifactId, status, error: { code, message } })
    await settle(tx, job, false)
    if (job.fromAllowance) await returnAllowance(tx, job)
    // It may have been stored before it failed.
    await insertBlobDeletions(tx, blobDeletionsOfArtifact(job, job.artifactId))
    await recordEvent(tx, job.tenantId, 'artifact.failed', { ...eventOf(job), status, error_code: code })
    return true
  })
}

async function assertFits(ctx: Context, tx: Tx, { tenantId }: Job, sizes: { bytes: number; announced: number }): Promise<void> {
  try {
    await assertQuota(ctx, tx, tenantId, sizes)
  } catch (error) {
    throw error instanceof ApiError ? new MakingFailed(error.code, error.message) : error
  }
}

/** Whether the job was still the holder's. The artifact's row comes first, as for whoever deletes the artifact: else both wait for each other. */
async function endJob(tx: Tx, job: Job, owner: string): Promise<boolean> {
  await findArtifactForUpdate(tx, job.tenantId, job.collectionId, job.artifactId)
  return deleteJob(tx, job, owner)
}

function eventOf({ collectionId, artifactId, work }: Job) {
  const made = work === 'paint' ? ({ kind: 'image', source: 'paint' } as const) : ({ kind: work, source: 'produce' } as const)
  return artifactEvent(collectionId, { id: artifactId, ...made })
}

async function settle(tx: Tx, { payer, priceCredits, artifactId, tenantId }: Job, made: boolean): Promise<void> {
  if (!payer || priceCredits === 0) return
  await postMovements(tx, [
    {
      type: 'hold_end',
      id: makingHoldId(artifactId),
      from: payer,
      actor: tenantId,
      outcome: made ? 'captured' : 'released',
      ...(made ? { capture: { to: revenueAccount(tenantId), amountCredits: priceCredits } } : {}),
    },
  ])
}
