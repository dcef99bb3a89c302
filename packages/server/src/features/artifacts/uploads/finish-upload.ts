import type { Context } from '#features/context.ts'
import type { Db, Tx } from '#db/database.ts'
import { artifactPrefix, blobDeletionsOfArtifact, ownerOfKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { deleteBlobNow } from '#features/blob-deletions/delete-blobs.ts'
import { insertBlobDeletions, type BlobDeletion } from '#features/blob-deletions/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { assertQuota } from '#features/limits/quota.ts'
import { artifactEvent, mediaAddress, type Artifact } from '../artifact.ts'
import { findArtifact, findArtifactForUpdate, updateFailed, updateReady } from '../store.ts'
import type { StoredUpload } from './upload-checks.ts'
import {
  countOpenUploads,
  deleteExpiredUploads,
  deleteUpload,
  listOpenUploads,
  lockUploads,
  type ClaimedUpload,
  type UploadKey,
} from './upload-store.ts'

/** Makes the artifact ready, once, and deletes the uploaded blob: the served one is stored apart from it. */
export async function finishReady(ctx: Context, upload: ClaimedUpload, stored: StoredUpload): Promise<void> {
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
export async function finishFailed(ctx: Context, upload: ClaimedUpload, message: string): Promise<void> {
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
  for (const deletion of deletions) await deleteBlobNow(ctx, deletion)
}

/**
 * Deletes the blobs of an artifact that was deleted or has failed during the check: the check may have stored a blob
 * after the queued deletion ran. Neither state is ever left, so nothing can serve these blobs later.
 */
export async function deleteUnserved(ctx: Context, { tenantId, collectionId, artifactId }: UploadKey): Promise<void> {
  const artifact = await findArtifact(ctx.db, tenantId, collectionId, artifactId)
  if (!artifact || artifact.status === 'failed')
    await ctx.blobs.deletePrefix(artifactPrefix({ tenantId, collectionId }, artifactId))
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
