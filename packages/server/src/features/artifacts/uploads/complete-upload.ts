import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { ApiError } from '#errors/api-error.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { newId } from '#crypto/random.ts'
import { findArtifact } from '../store.ts'
import { finishFailed, finishReady, removeUnserved } from './finish-upload.ts'
import { claimUpload, releaseUpload, type ClaimedUpload, type UploadKey } from './store.ts'
import { storePicture } from './store-picture.ts'
import { storeVideo } from './store-video.ts'
import { LeaseLost, UploadLease } from './upload-lease.ts'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'

/** How long a call waits for another one that is at the same upload. */
const patienceMs = 10_000
const lookEveryMs = 150
/** A picture that took too long so often is not tried again. */
const maxTries = 3
const busySeconds = 5

/** Checks what was uploaded and ends the upload, one way or the other; of several calls at once, one does. */
export async function completeUpload(ctx: Context, key: UploadKey): Promise<void> {
  const owner = newId('request')
  for (const deadline = performance.now() + patienceMs; ; await delay(lookEveryMs)) {
    const upload = await claimUpload(ctx.db, key, owner)
    if (upload) return check(ctx, upload)
    const artifact = await findArtifact(ctx.db, key.tenantId, key.collectionId, key.artifactId)
    if (artifact?.status !== 'painting') return
    if (performance.now() > deadline) throw new ApiError('unavailable', { retryAfterSeconds: busySeconds })
  }
}

async function check(ctx: Context, upload: ClaimedUpload): Promise<void> {
  const lease = new UploadLease(ctx.db, upload)
  try {
    await finishReady(ctx, upload, await (upload.mime.startsWith('video/') ? storeVideo : storePicture)(ctx, upload, lease))
  } catch (error) {
    if (error instanceof LeaseLost) return removeUnserved(ctx, upload)
    const mismatch = mismatchOf(error, upload)
    if (mismatch) return finishFailed(ctx, upload, mismatch.message)
    // Left as it is, for the next call.
    if (!lease.mayStillStore) await releaseUpload(ctx.db, upload, { tooSlow: isTooSlow(error) })
    throw passing(error)
  } finally {
    lease.end()
  }
}

/** What is wrong with the bytes themselves. */
function mismatchOf(error: unknown, { tries }: ClaimedUpload): Error | undefined {
  if (error instanceof UploadMismatch) return error
  if (!(error instanceof PictureError)) return undefined
  return error.code === 'refused' || (error.code === 'too_slow' && tries + 1 >= maxTries) ? error : undefined
}

function isTooSlow(error: unknown): boolean {
  return error instanceof PictureError && error.code === 'too_slow'
}

function passing(error: unknown): unknown {
  if (error instanceof BlobError && error.code === 'not_found') {
    const message = 'Nothing has arrived at the address of the upload yet. Send the bytes there, then call this again.'
    return new ApiError('upload_mismatch', { message, cause: error })
  }
  if (error instanceof PictureError || (error instanceof BlobError && error.code === 'unavailable'))
    return new ApiError('unavailable', { retryAfterSeconds: busySeconds, cause: error })
  return error
}
