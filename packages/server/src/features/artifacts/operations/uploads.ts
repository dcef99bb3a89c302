import { newId } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { uploadKey } from '#features/blob-deletions/blob-keys.ts'
import type { HandlerOf } from '#features/handler.ts'
import type { TenantLimits } from '#config/tenant-limits.ts'
import { assertQuota, findLimits, hashAddress, takeUploadBytes } from '#features/limits/limits.ts'
import { artifactView } from '../artifact.ts'
import { findArtifact, insertPendingArtifact } from '../store.ts'
import { completeUpload } from '../uploads/complete-upload.ts'
import { type OpenUploads, countOpenUploads, insertUpload } from '../uploads/upload-store.ts'

const expiresInSeconds = 60 * 60
/** By then, some of the open uploads are probably complete. */
const retryAfterSeconds = 60
const gibibyte = 1024 ** 3

/** Presigning computes the address in this process: it needs no call to the blob store, which may be unavailable. */
export const uploadArtifact: HandlerOf<'uploadArtifact'> = async (call) => {
  const { ctx, tx, tenantId, key, address, collection, body } = call
  const { kind, mime, bytes, sha256 = null, title = null, alt = null } = body
  const collectionId = collection.id
  if (kind !== 'clip' && !mime.startsWith('image/')) throw invalid('/mime', `must be an image for the kind ${kind}`)
  const publicAddress = key.kind === 'publishable' ? hashAddress(ctx, tenantId, address) : undefined
  const open = await countOpenUploads(tx, tenantId, collectionId, publicAddress)
  assertUploadQuota(open, bytes, await findLimits(ctx, tx, tenantId))
  await assertQuota(ctx, tx, tenantId, { bytes, announced: open.bytes })
  if (key.kind === 'publishable') await takeUploadBytes(ctx, tx, { tenantId, collectionId, address }, bytes)
  const id = newId('artifact')
  const { method, url, headers, expiresAt } = await ctx.blobs.presignUpload({
    key: uploadKey({ tenantId, collectionId }, id),
    mime,
    bytes,
    sha256: sha256 ?? undefined,
    expiresInSeconds,
  })
  const pending = { id, kind, source: 'upload', status: 'painting', stage: 'uploading', title, alt, error: null } as const
  await insertPendingArtifact(tx, tenantId, collectionId, pending)
  const upload = { collectionId, artifactId: id, mime, bytes, sha256 }
  await insertUpload(tx, tenantId, upload, { expiresInSeconds, address: publicAddress })
  return { status: 201, data: { id, upload: { method, url, headers, expires_at: expiresAt.toISOString() } } }
}

/**
 * Throws if the tenant or the collection has too many open uploads: uploads that are never completed must not fill the
 * blob store.
 */
function assertUploadQuota(open: OpenUploads, bytes: number, limits: TenantLimits): void {
  const { open_uploads: openUploads, open_upload_bytes: openUploadBytes } = limits
  const { open_uploads_in_collection: openUploadsInCollection } = limits
  if (open.inCollection >= openUploadsInCollection)
    throw tooManyUploads(`This collection has ${openUploadsInCollection} open uploads.`)
  if (open.count >= openUploads) throw tooManyUploads(`Your account has ${openUploads} open uploads.`)
  // One address has at most as many as stay free for all others.
  if (open.count + open.ofAddress >= openUploads) throw tooManyUploads(`This address has ${open.ofAddress} open uploads.`)
  if (open.bytes + bytes > openUploadBytes)
    throw tooManyUploads(`With this upload, your account would exceed ${sizeText(openUploadBytes)} of open uploads.`)
}

function sizeText(bytes: number): string {
  return bytes > 0 && bytes % gibibyte === 0 ? `${bytes / gibibyte} GiB` : `${bytes} bytes`
}

function tooManyUploads(reason: string): ApiError {
  const message = `${reason} Complete or delete some, or wait until they expire.`
  return new ApiError('rate_limited', { message, retryAfterSeconds })
}

export const markArtifactReady: HandlerOf<'markArtifactReady'> = async ({ ctx, tenantId, params }) => {
  const find = () => findArtifact(ctx.db, tenantId, params.id, params.artifactId)
  const before = await find()
  if (!before) throw new ApiError('not_found')
  if (before.source !== 'upload') throw new ApiError('state_conflict', { message: 'This artifact was not uploaded.' })
  if (before.status === 'painting')
    await completeUpload(ctx, { tenantId, collectionId: params.id, artifactId: params.artifactId })
  const artifact = before.status === 'painting' ? await find() : before
  if (!artifact) throw new ApiError('not_found')
  if (artifact.status === 'ready') return { status: 200, data: artifactView(artifact) }
  // Another call has taken over the check, which still runs.
  if (artifact.status === 'painting') throw new ApiError('unavailable', { retryAfterSeconds: 5 })
  throw new ApiError('upload_mismatch', artifact.error ? { message: artifact.error.message } : {})
}
