import { setTimeout as delay } from 'node:timers/promises'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'
import { newId } from '#crypto/random.ts'
import type { Db, Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { blobDeletionsOfArtifact, ownerOfKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { deleteQueuedNow } from '#features/blob-deletions/delete-blobs.ts'
import { type BlobDeletion, insertBlobDeletions } from '#features/blob-deletions/store.ts'
import type { Context } from '#features/context.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { assertQuota } from '#features/limits/limits.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { type Artifact, artifactEvent, mediaAddress } from '../artifact.ts'
import { deleteUnserved } from '../delete-unserved.ts'
import { findArtifact, findArtifactForUpdate, updateFailed, updateReady } from '../store.ts'
import { type StoredUpload, storePicture, storeVideo } from './store-upload.ts'
import { UploadLease, UploadLeaseLostError } from './upload-lease.ts'
import {
  type ClaimedUpload,
  type UploadKey,
  claimUpload,
  countOpenUploads,
  deleteExpiredUploads,
  deleteUpload,
  listOpenUploads,
  lockUploads,
  releaseUpload,
} from './upload-store.ts'

/** How long a call waits for another call that checks the same upload. */
const timeoutMs = 10_000
const pollIntervalMs = 150
/** After so many checks that took too long, a picture is refused. */
const maxAttempts = 3
const retryAfterSeconds = 5

/**
 * Checks the uploaded bytes and ends the upload: its artifact is ready or failed. Of concurrent calls, one does the
 * check.
 */
export async function completeUpload(ctx: Context, key: UploadKey): Promise<void> {
  const owner = newId('request')
  for (const deadline = performance.now() + timeoutMs; ; await delay(pollIntervalMs)) {
    const upload = await claimUpload(ctx.db, key.tenantId, key, owner)
    if (upload) return check(ctx, upload)
    const artifact = await findArtifact(ctx.db, key.tenantId, key.collectionId, key.artifactId)
    if (artifact?.status !== 'painting') return
    if (performance.now() > deadline) throw new ApiError('unavailable', { retryAfterSeconds })
  }
}

async function check(ctx: Context, upload: ClaimedUpload): Promise<void> {
  const lease = new UploadLease(ctx.db, upload)
  const store = upload.mime.startsWith('video/') ? storeVideo : storePicture
  try {
    await finishReady(ctx, upload, await store(ctx, upload, lease))
  } catch (error) {
    if (error instanceof UploadLeaseLostError) return deleteUnserved(ctx, upload)
    const mismatch = mismatchOf(error, upload)
    if (mismatch) return finishFailed(ctx, upload, mismatch.message)
    // The upload stays as it is, for the next call.
    if (!lease.mayStillStore) await releaseUpload(ctx.db, upload, { tooSlow: isTooSlow(error) })
    throw apiErrorOf(error)
  } finally {
    lease.end()
  }
}

/** The error that is the fault of the uploaded bytes; undefined: the check may be repeated. */
function mismatchOf(error: unknown, { attempts }: ClaimedUpload): Error | undefined {
  if (error instanceof UploadMismatch) return error
  if (!(error instanceof PictureError)) return undefined
  return error.code === 'refused' || (error.code === 'too_slow' && attempts + 1 >= maxAttempts) ? error : undefined
}

function isTooSlow(error: unknown): boolean {
  return error instanceof PictureError && error.code === 'too_slow'
}

function apiErrorOf(error: unknown): unknown {
  if (error instanceof BlobError && error.code === 'not_found') {
    const message = 'No bytes have arrived at the address of the upload yet. Send them there, then repeat this call.'
    return new ApiError('upload_mismatch', { message, cause: error })
  }
  if (error instanceof PictureError || (error instanceof BlobError && error.code === 'unavailable'))
    return new ApiError('unavailable', { retryAfterSeconds, cause: error })
  return error
}

/** Makes the artifact ready, once, and deletes the uploaded blob: the served one is stored apart from it. */
async function finishReady(ctx: Context, upload: ClaimedUpload, stored: StoredUpload): Promise<void> {
  const { tenantId, collectionId, artifactId } = upload
  const deletion = { tenantId, target: uploadKey(upload, artifactId) }
  await endUpload(ctx, upload, [deletion], async (tx, artifact) => {
    // Cleaning can make a picture larger than announced. If it exceeds the quota, the upload stays open.
    const { bytes: announced } = await countOpenUploads(tx, tenantId, collectionId)
    await assertQuota(ctx, tx, tenantId, { bytes: stored.bytes, announced })
    const url = mediaAddress(ctx.config, artifactId)
    await updateReady(tx, tenantId, collectionId, { id: artifactId, url, ...stored, alt: null })
    await recordEvent(tx, tenantId, 'artifact.ready', artifactEvent(collectionId, artifact))
  })
}

/** Makes the artifact failed, and deletes all of its blobs. */
async function finishFailed(ctx: Context, upload: ClaimedUpload, message: string): Promise<void> {
  const { tenantId, collectionId, artifactId } = upload
  await endUpload(ctx, upload, blobDeletionsOfArtifact(upload, artifactId), async (tx, artifact) => {
    const error = { code: 'upload_mismatch', message }
    await updateFailed(tx, tenantId, collectionId, { id: artifactId, status: 'failed', error })
    const data = { ...artifactEvent(collectionId, artifact), status: 'failed' as const, error_code: error.code }
    await recordEvent(tx, tenantId, 'artifact.failed', data)
  })
}

type End = (tx: Tx, artifact: Artifact) => Promise<void>

/** Ends the upload if the claim still holds its lease. */
async function endUpload(ctx: Context, upload: ClaimedUpload, deletions: BlobDeletion[], end: End): Promise<void> {
  const { tenantId, collectionId, artifactId } = upload
  const done = await ctx.db.lane(tenantId).transaction(async (tx) => {
    // Locks the uploads before the artifact: an announcer of an upload holds that lock, and may wait for a delete of
    // the collection.
    await lockUploads(tx, tenantId)
    // Locks the artifact before its upload, as a delete of the artifact does.
    const artifact = await findArtifactForUpdate(tx, tenantId, collectionId, artifactId)
    if (!artifact || !(await deleteUpload(tx, upload))) return false
    await end(tx, artifact)
    await insertBlobDeletions(tx, deletions)
    return true
  })
  if (!done) return deleteUnserved(ctx, upload)
  await deleteQueuedNow(ctx, deletions)
}

/** Deletes up to `limit` artifacts whose upload was not completed in time. Returns how many. */
export function expireUploads(ctx: Pick<Context, 'db'>, limit: number): Promise<number> {
  return ctx.db.transaction(async (tx) => {
    const expired = await deleteExpiredUploads(tx, limit)
    await insertBlobDeletions(
      tx,
      expired.flatMap((upload) => blobDeletionsOfArtifact(upload, upload.artifactId)),
    )
    return expired.length
  })
}

/**
 * Whether bytes may arrive at this key: true for an open upload, and for a key that is not the upload of an artifact.
 */
export async function isOpenUpload(db: Db, key: string): Promise<boolean> {
  const owner = ownerOfKey(key)
  return !owner?.isUpload || (await listOpenUploads(db, [owner])).size === 1
}
