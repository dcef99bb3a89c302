import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import { sendBlob } from '#http/send-blob.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { isPublic } from '../artifact.ts'
import { assertShown } from '../assert-shown.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { isStored, type StoredArtifact } from '../media/stored-artifact.ts'
import { variantOf, type Variant } from '../media/variant.ts'

const busySeconds = 2

export const getMedia: HandlerOf<'getMedia'> = async ({ ctx, params, query, headers, req, reply }) => {
  if (query.format !== undefined && query.w === undefined) throw invalid('format', 'goes with w')
  const artifact = await ctx.media.add(params.artifactId)
  if (!artifact || !isStored(artifact)) throw new ApiError('not_found')
  const open = isPublic(artifact)
  if (!open && !(await isOwner(ctx, artifact, headers['x-collection-token']))) await assertShown(ctx, headers, artifact)
  const asked = query.w === undefined ? undefined : { width: query.w, format: query.format ?? 'webp' }
  try {
    return await send(ctx, req, reply, artifact, { open, asked })
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
  { open, asked }: { open: boolean; asked: Variant | undefined },
): Promise<FastifyReply> {
  const { key, mime, bytes, etag } = asked ? await findVariant(ctx, artifact, asked) : originalOf(artifact)
  reply.header('content-disposition', `inline; filename="${artifact.id}.${extensionOf(mime)}"`)
  return sendBlob(req, reply, ctx.blobs, {
    key,
    mime,
    bytes,
    etag,
    // What is not for everyone must not stay anywhere.
    cacheControl: open ? 'public, max-age=31536000, immutable' : 'private, no-store',
    onStatus: (status) => ctx.metrics.answered('getMedia', status, reply.elapsedTime),
    onSent: (sent) => ctx.usageCounter.count(artifact.tenantId, 'bytes', sent),
  })
}

function originalOf(artifact: StoredArtifact) {
  const { mime, bytes, sha256 } = artifact
  return { key: originalKey(artifact, artifact.id), mime, bytes, etag: sha256 }
}

async function findVariant(ctx: Context, artifact: StoredArtifact, asked: Variant) {
  if (!artifact.mime.startsWith('image/')) throw invalid('w', 'this artifact is a video: it has no smaller pictures')
  return ctx.variants.get(artifact, variantOf(artifact, asked))
}

function extensionOf(mime: string): string {
  return mime === 'image/jpeg' ? 'jpg' : mime.slice(mime.indexOf('/') + 1)
}

function apiErrorOf(error: unknown): unknown {
  // Deleted since it was looked up.
  if (error instanceof BlobError && error.code === 'not_found') return new ApiError('not_found')
  const passing = error instanceof PictureError || (error instanceof BlobError && error.code === 'unavailable')
  return passing ? new ApiError('unavailable', { retryAfterSeconds: busySeconds, cause: error }) : error
}
