import { limits } from '@atrium/contract/limits'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { newId } from '#crypto/random.ts'
import type { AccountRef } from '#features/credits/ledger/account.ts'
import { transactionId } from '#features/credits/ledger/movement.ts'
import { postMovements } from '#features/credits/ledger/post.ts'
import { findTenantForUpdate } from '#features/tenants/store.ts'
import type { Artifact } from '../artifact.ts'
import { insertMadeArtifact } from '../store.ts'
import type { Job } from './job.ts'
import { insertJob } from './job-store.ts'

const deadlineMs = 5 * 60_000
/** How much longer than its job a hold stands. */
const holdGraceMs = 10 * 60_000
const busySeconds = 5

type Work = Pick<Job, 'tenantId' | 'collectionId' | 'priceCredits' | 'payer' | 'fromAllowance' | 'work' | 'input'>

export function makingHoldId(artifactId: string): string {
  return transactionId('hold', artifactId)
}

/** The artifact, its job and the hold of its price, in the caller's transaction. Gives the artifact's id. */
export async function startMaking(tx: Tx, work: Work, artifact: Pick<Artifact, 'kind' | 'source' | 'title'>): Promise<string> {
  // One after another for a tenant: its jobs are counted, and each gets its turn after the last.
  await findTenantForUpdate(tx, work.tenantId)
  const artifactId = newId('artifact')
  const { tenantId, collectionId } = work
  await insertMadeArtifact(tx, tenantId, collectionId, {
    id: artifactId,
    ...artifact,
    status: 'painting',
    stage: 'queued',
    error: null,
  })
  const deadline = Date.now() + deadlineMs
  if (work.payer && work.priceCredits > 0) await hold(tx, work, work.payer, artifactId, deadline + holdGraceMs)
  if (!(await insertJob(tx, { ...work, artifactId, deadline: new Date(deadline).toISOString() }))) throw tooMany()
  return artifactId
}

function tooMany(): ApiError {
  const message = `${limits.artifactsInTheMaking} artifacts of this tenant wait or are being made: no more at once. Try again when some are done.`
  return new ApiError('rate_limited', { message, retryAfterSeconds: busySeconds })
}

async function hold(
  tx: Tx,
  { tenantId, priceCredits }: Work,
  payer: AccountRef,
  artifactId: string,
  endsAtMs: number,
): Promise<void> {
  const [outcome] = await postMovements(tx, [
    {
      type: 'hold',
      id: makingHoldId(artifactId),
      from: payer,
      amountCredits: priceCredits,
      actor: tenantId,
      endsAt: new Date(endsAtMs).toISOString(),
      purpose: artifactId,
    },
  ])
  if (outcome !== 'posted') throw new ApiError('insufficient_credit')
}
