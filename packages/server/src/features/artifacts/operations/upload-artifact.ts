import { invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { takeUploadBytes } from '#features/limits/daily-limits.ts'
import { assertQuota } from '#features/limits/quota.ts'
import { newId } from '#crypto/random.ts'
import { uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { insertMadeArtifact } from '../store.ts'
import { assertRoom } from '../uploads/assert-room.ts'
import { countOpenUploads, insertUpload } from '../uploads/store.ts'

const uploadSeconds = 60 * 60

/** The address is computed here and now: nothing is asked of the store, which may be away. */
export const uploadArtifact: HandlerOf<'uploadArtifact'> = async ({
  ctx,
  tx,
  tenantId,
  key: caller,
  address,
  collection,
  body,
}) => {
  const { kind, mime, bytes, sha256 = null } = body
  if (kind !== 'clip' && !mime.startsWith('image/')) throw invalid('/mime', `must be an image for the kind ${kind}`)
  const open = await countOpenUploads(tx, tenantId, collection.id)
  assertRoom(open, bytes)
  await assertQuota(ctx, tx, tenantId, { bytes, announced: open.bytes })
  if (caller.kind === 'publishable') await takeUploadBytes(ctx, tx, { tenantId, collectionId: collection.id, address }, bytes)
  const artifactId = newId('artifact')
  const place = { tenantId, collectionId: collection.id }
  const key = uploadKey(place, artifactId)
  const terms = { key, mime, bytes, sha256: sha256 ?? undefined, expiresInSeconds: uploadSeconds }
  const { method, url, headers, expiresAt } = await ctx.blobs.presignUpload(terms)
  await insertMadeArtifact(tx, tenantId, collection.id, {
    id: artifactId,
    kind,
    source: 'upload',
    status: 'painting',
    stage: 'uploading',
    title: null,
    error: null,
  })
  await insertUpload(tx, { ...place, artifactId, mime, bytes, sha256 }, expiresAt)
  return { status: 201, data: { id: artifactId, upload: { method, url, headers, expires_at: expiresAt.toISOString() } } }
}
