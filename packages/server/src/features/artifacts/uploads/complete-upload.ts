import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { ApiError } from '#errors/api-error.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { newId } from '#crypto/random.ts'
import { findArtifact } from '../store.ts'
import { finishFailed, finishReady, deleteUnserved } from './finish-upload.ts'
import { storePicture } from './store-picture.ts'
import { storeVideo } from './store-video.ts'
import { UploadLease, UploadLeaseLostError } from './upload-lease.ts'
import { claimUpload, releaseUpload, type ClaimedUpload, type UploadKey } from './upload-store.ts'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'

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
