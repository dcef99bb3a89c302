import type { Context } from '#features/context.ts'
import type { Tx } from '#db/database.ts'
import { assertQuota } from '#features/limits/quota.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { artifactEvent } from '../artifact-event.ts'
import type { Artifact } from '../artifact.ts'
import { artifactPrefix, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { mediaAddress } from '../media-address.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/deletions-of.ts'
import { deleteBlobNow } from '#features/blob-deletions/delete-blobs.ts'
import { insertBlobDeletions, type BlobDeletion } from '#features/blob-deletions/store.ts'
import { findArtifact, findArtifactForUpdate, updateFailed, updateMade } from '../store.ts'
import { countOpenUploads, deleteUpload, lockUploads, type ClaimedUpload, type UploadKey } from './store.ts'
import type { StoredUpload } from './stored-upload.ts'

/** Makes the artifact ready, once, and what was uploaded goes: what is served is stored apart from it. */
export async function finishReady(ctx: Context, upload: ClaimedUpload, stored: StoredUpload): Promise<void> {
  const { tenantId, collectionId, artifactId } = upload
  const removal = { tenantId, target: uploadKey(upload, artifactId) }
  await endUpload(ctx, upload, [removal], async (tx, artifact) => {
    // Cleaned, a picture may be larger than it was announced. Where it does not fit, the upload stays as it is.
    const { bytes: announced } = await countOpenUploads(tx, tenantId, collectionId)
    await assertQuota(ctx, tx, tenantId, { bytes: stored.bytes, announced })
    const url = mediaAddress(ctx.config, artifactId)
    await updateMade(tx, tenantId, collectionId, { id: artifactId, url, ...stored, alt: null })
    await recordEvent(tx, tenantId, 'artifact.ready', artifactEvent(collectionId, artifact))
  })
}

/** Ends it without bytes; all that is stored of it goes. */
export async function finishFailed(ctx: Context, upload: ClaimedUpload, message: string): Promise<void> {
  const { tenantId, collectionId, artifactId } = upload
  await endUpload(ctx, upload, blobDeletionsOfArtifact(upload, artifactId), async (tx, artifact) => {
    const error = { code: 'upload_mismatch', message }
    await updateFailed(tx, tenantId, collectionId, { id: artifactId, status: 'failed', error })
    const told = { ...artifactEvent(collectionId, artifact), status: 'failed' as const, error_code: error.code }
    await recordEvent(tx, tenantId, 'artifact.failed', told)
  })
}

type End = (tx: Tx, artifact: Artifact) => Promise<void>

/** Ends the upload where it is still the caller's to end. */
async function endUpload(ctx: Context, upload: ClaimedUpload, removals: BlobDeletion[], end: End): Promise<void> {
  const done = await ctx.db.lane(upload.tenantId).transaction(async (tx) => {
    // Before the artifact: whoever announces an upload holds this lock, and may wait for one who deletes the collection and its artifacts.
    await lockUploads(tx, upload.tenantId)
    // The artifact before its upload, as whoever deletes it does.
    const artifact = await findArtifactForUpdate(tx, upload.tenantId, upload.collectionId, upload.artifactId)
    if (!artifact || !(await deleteUpload(tx, upload))) return false
    await end(tx, artifact)
    await insertBlobDeletions(tx, removals)
    return true
  })
  if (!done) return removeUnserved(ctx, upload)
  for (const removal of removals) await deleteBlobNow(ctx, removal)
}

/** What was stored for an artifact that was deleted or failed meanwhile goes: its files were removed before, perhaps. Neither comes back. */
export async function removeUnserved(ctx: Context, { tenantId, collectionId, artifactId }: UploadKey): Promise<void> {
  const artifact = await findArtifact(ctx.db, tenantId, collectionId, artifactId)
  if (!artifact || artifact.status === 'failed')
    await ctx.blobs.deletePrefix(artifactPrefix({ tenantId, collectionId }, artifactId))
}
