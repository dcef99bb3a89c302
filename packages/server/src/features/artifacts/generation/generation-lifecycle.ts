import { countOne } from '#features/usage/store.ts'
import type { Context } from '#features/context.ts'
import { newId } from '#crypto/random.ts'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/blob-keys.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { shortOfCredit } from '#features/credits/short-of-credit.ts'
import { revenueAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { assertQuota, findLimits } from '#features/limits/limits.ts'
import { findTenantForUpdate } from '#features/tenants/store.ts'
import { artifactEvent, mediaAddress, type Artifact } from '../artifact.ts'
import { findArtifactForUpdate, insertPendingArtifact, updateFailed, updateReady } from '../store.ts'
import { countOpenUploads } from '../uploads/upload-store.ts'
import { type Generated, GenerationError, type Job, deleteJob, insertJob, returnAllowance } from './job-store.ts'

const timeoutSeconds = 5 * 60
/** A hold outlasts the deadline of its job by this much, so that a late capture still finds it. */
const holdGraceMs = 10 * 60_000
const retryAfterSeconds = 5

type Work = Pick<Job, 'collectionId' | 'priceCredits' | 'payer' | 'fromAllowance' | 'kind' | 'input'>

/** Inserts the artifact and its job, and holds the price, in the caller's transaction. Returns the artifact's id. */
export async function startGeneration(
  ctx: Pick<Context, 'config'>,
  tx: Tx,
  tenantId: string,
  work: Work,
  artifact: Pick<Artifact, 'kind' | 'source' | 'title'>,
): Promise<string> {
  // Serialises the tenant's generations: the next statements count its jobs and give each the next fairness rank. A
  // suspension waits for this lock, so it sees the job, and the deletion of the tenant waits until the job ends. The
  // gateway checked the tenant before the lock. Without a second check, the deletion could remove the job and leave its
  // hold.
  const tenant = await findTenantForUpdate(tx, tenantId)
  if (tenant?.status === 'suspended') throw new ApiError('tenant_suspended')
  const id = newId('artifact')
  const pending = { id, ...artifact, status: 'painting', stage: 'queued', error: null } as const
  await insertPendingArtifact(tx, tenantId, work.collectionId, pending)
  const { active_generations: most } = await findLimits(ctx, tx, tenantId)
  const deadline = await insertJob(tx, tenantId, { ...work, artifactId: id }, { timeoutSeconds, most })
  if (deadline === undefined) throw tooManyJobs(most)
  await holdPrice(tx, tenantId, work, { artifactId: id, endsAtMs: Date.parse(deadline) + holdGraceMs })
  return id
}

function tooManyJobs(most: number): ApiError {
  const message = `This tenant has ${most} artifacts waiting or being generated, the most at once. Try again when some are done.`
  return new ApiError('rate_limited', { message, retryAfterSeconds })
}

function holdId(artifactId: string): string {
  return transactionId('hold', artifactId)
}

async function holdPrice(
  tx: Tx,
  tenantId: string,
  { payer, priceCredits }: Work,
  { artifactId, endsAtMs }: { artifactId: string; endsAtMs: number },
): Promise<void> {
  if (!payer || priceCredits === 0) return
  const [outcome] = await postMovements(tx, [
    {
      type: 'hold',
      id: holdId(artifactId),
      from: payer,
      amountCredits: priceCredits,
      actor: tenantId,
      endsAt: new Date(endsAtMs).toISOString(),
      purpose: artifactId,
    },
  ])
  if (outcome !== 'posted') throw shortOfCredit('painting', priceCredits)
}

/** The properties of a stored generated blob. */
export interface StoredBlob extends Omit<Generated, 'bytes'> {
  bytes: number
  sha256: string
}

/**
 * Makes the artifact ready and captures its price in one transaction. Returns false if the owner no longer held the
 * job's lease.
 */
export async function finishReady(ctx: Context, job: Job, owner: string, stored: StoredBlob): Promise<boolean> {
  const { tenantId, collectionId, artifactId } = job
  const url = mediaAddress(ctx.config, artifactId)
  return ctx.db.transaction(async (tx) => {
    // Locks the uploads before the artifact: an announcer of an upload holds that lock, and may wait for a delete of
    // the collection.
    const { bytes: announced } = await countOpenUploads(tx, tenantId, collectionId)
    if (!(await endJob(tx, job, owner))) return false
    await assertFits(ctx, tx, tenantId, { bytes: stored.bytes, announced })
    await updateReady(tx, tenantId, collectionId, { id: artifactId, url, ...stored })
    if (!(await settlePrice(tx, job, { captured: true }))) throw outOfTime()
    await recordEvent(tx, tenantId, 'artifact.ready', eventOf(job))
    if (job.kind === 'paint') await countOne(tx, tenantId, 'paints')
    return true
  })
}

/**
 * Makes the artifact failed: the hold is released, and a free paint returned. Returns false if the owner no longer
 * held the lease.
 */
export async function finishFailed(ctx: Context, job: Job, owner: string, { code, message }: GenerationError): Promise<boolean> {
  const { tenantId, collectionId, artifactId } = job
  return ctx.db.transaction(async (tx) => {
    if (!(await endJob(tx, job, owner))) return false
    const status = code === 'quota_exceeded' ? 'quota_exceeded' : 'failed'
    await updateFailed(tx, tenantId, collectionId, { id: artifactId, status, error: { code, message } })
    await settlePrice(tx, job, { captured: false })
    if (job.fromAllowance) await returnAllowance(tx, tenantId, job.createdAt)
    // The blob may have been stored before the job failed.
    await insertBlobDeletions(tx, blobDeletionsOfArtifact(job, artifactId))
    await recordEvent(tx, tenantId, 'artifact.failed', { ...eventOf(job), status, error_code: code })
    return true
  })
}

async function assertFits(ctx: Context, tx: Tx, tenantId: string, sizes: { bytes: number; announced: number }): Promise<void> {
  try {
    await assertQuota(ctx, tx, tenantId, sizes)
  } catch (error) {
    throw error instanceof ApiError ? new GenerationError(error.code, error.message) : error
  }
}

/**
 * Returns whether the owner still held the job. Locks the artifact first, as a delete of the artifact does: otherwise
 * both deadlock.
 */
async function endJob(tx: Tx, job: Job, owner: string): Promise<boolean> {
  await findArtifactForUpdate(tx, job.tenantId, job.collectionId, job.artifactId)
  return deleteJob(tx, job.tenantId, job, owner)
}

function eventOf({ collectionId, artifactId, kind }: Job) {
  const artifact = kind === 'paint' ? ({ kind: 'image', source: 'paint' } as const) : ({ kind, source: 'produce' } as const)
  return artifactEvent(collectionId, { id: artifactId, ...artifact })
}

export function outOfTime(): GenerationError {
  return new GenerationError('gave_up', 'The artifact could not be generated in time.')
}

/**
 * Returns false if the hold has expired, and was released: the clock of the database has jumped forward. The worker
 * measures its time by its own.
 */
async function settlePrice(tx: Tx, job: Job, { captured }: { captured: boolean }): Promise<boolean> {
  const { payer, priceCredits, artifactId, tenantId } = job
  if (!payer || priceCredits === 0) return true
  const [outcome] = await postMovements(tx, [
    {
      type: 'hold_end',
      id: holdId(artifactId),
      from: payer,
      actor: tenantId,
      outcome: captured ? 'captured' : 'released',
      ...(captured ? { capture: { to: revenueAccount(tenantId), amountCredits: priceCredits } } : {}),
    },
  ])
  return outcome === 'posted'
}
