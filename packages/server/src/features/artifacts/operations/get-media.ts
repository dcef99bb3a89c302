import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import { sendBlob } from '#http/send-blob.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { isStored, type StoredArtifact } from '../artifact.ts'
import type { Variant } from '../variants.ts'
import { assertVisible, isPublic } from '../visibility.ts'

const retryAfterSeconds = 2

export const getMedia: HandlerOf<'getMedia'> = async ({ ctx, params, query, headers, req, reply }) => {
  if (query.format !== undefined && query.w === undefined) throw invalid('format', 'is only valid together with w')
  const artifact = await ctx.media.load(params.artifactId)
  if (!artifact || !isStored(artifact)) throw new ApiError('not_found')
  const open = isPublic(artifact)
  if (!open && !(await isOwner(ctx, artifact, headers['x-collection-token']))) await assertVisible(ctx, headers, artifact)
  const variant = query.w === undefined ? undefined : { width: query.w, format: query.format ?? 'webp' }
  try {
    return await send(ctx, req, reply, artifact, { open, variant })
  } catch (error) {
    throw apiErrorOf(error)
  }
}

async function isOwner(ctx: Context, { tenantId, collectionId }: StoredArtifact, token: unknown): Promise<boolean> {
  if (typeof token !== 'string') return false
  return checkCapability('optional', token, await ctx.collections.get(tenantId, collectionId))
}

async function send(
  ctx: Context,
  req: FastifyRequest,
  reply: FastifyReply,
  artifact: StoredArtifact,
  { open, variant }: { open: boolean; variant: Variant | undefined },
): Promise<FastifyReply> {
  const { key, mime, bytes, etag } = variant ? await findVariant(ctx, artifact, variant) : originalOf(artifact)
  reply.header('content-disposition', `inline; filename="${artifact.id}.${extensionOf(mime)}"`)
  return sendBlob(req, reply, ctx.blobs, {
    key,
    mime,
    bytes,
    etag,
    // No cache may store what is not public.
    cacheControl: open ? 'public, max-age=31536000, immutable' : 'private, no-store',
    onStatus: (status) => ctx.metrics.answered('getMedia', status, reply.elapsedTime),
    onSent: (sent) => ctx.usageCounter.count(artifact.tenantId, 'bytes', sent),
  })
}

function originalOf(artifact: StoredArtifact) {
  const { mime, bytes, sha256 } = artifact
  return { key: originalKey(artifact, artifact.id), mime, bytes, etag: sha256 }
}

async function findVariant(ctx: Context, artifact: StoredArtifact, variant: Variant) {
  if (!artifact.mime.startsWith('image/')) throw invalid('w', 'is only valid for pictures, and this artifact is a video')
  return ctx.variants.get(artifact, variant)
}

function extensionOf(mime: string): string {
  return mime === 'image/jpeg' ? 'jpg' : mime.slice(mime.indexOf('/') + 1)
}

function apiErrorOf(error: unknown): unknown {
  // The artifact was deleted after it was loaded.
  if (error instanceof BlobError && error.code === 'not_found') return new ApiError('not_found')
  const isTransient = error instanceof PictureError || (error instanceof BlobError && error.code === 'unavailable')
  return isTransient ? new ApiError('unavailable', { retryAfterSeconds, cause: error }) : error
}
