import { limits } from '@atrium/contract/limits'
import { PictureError } from '@atrium/media/pictures/picture-error'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, invalid } from '#errors/api-error.ts'
import { isDiskFull } from '#errors/caught.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import { isMemberOf } from '#features/console/is-member-of.ts'
import { recordAnswer } from '#features/record-answer.ts'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findAccount } from '#features/items/access-list.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { sendBlob } from '#http/send-blob.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { type StoredArtifact, artifactView, assertVisible, filterVisible, isPublic, isStored } from '../artifact.ts'
import { findArtifact, listArtifacts as listRows } from '../store.ts'
import { NotStoredError, type Variant } from '../variants.ts'

export const getArtifact: HandlerOf<'getArtifact'> = async ({ ctx, tenantId, params, headers, owner }) => {
  const artifact = await findArtifact(ctx.db, tenantId, params.id, params.artifactId)
  if (!artifact) throw new ApiError('not_found')
  if (!owner) await assertVisible(ctx, headers, { ...artifact, tenantId })
  return { status: 200, data: artifactView(artifact) }
}

export const listArtifacts: HandlerOf<'listArtifacts'> = async ({ ctx, tenantId, collection, query, headers, owner }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `artifacts:${collection.id}`
  const account = owner ? undefined : await findAccount(ctx, headers)
  const rows = await listRows(ctx.db, tenantId, collection.id, {
    afterSeq: readCursor(list, query.cursor),
    limit: limit + 1,
    audience: owner ? 'owner' : account === undefined ? 'anyone' : 'account',
  })
  const { page, nextCursor } = cutPage(list, rows, limit)
  const visible = account === undefined ? page : await filterVisible(ctx, tenantId, collection.id, page, account)
  return { status: 200, data: visible.map(artifactView), nextCursor }
}

const retryAfterSeconds = 2

export const getMedia: HandlerOf<'getMedia'> = async ({ ctx, params, query, headers, req, reply }) => {
  if (query.format !== undefined && query.w === undefined) throw invalid('/format', 'is only valid together with w')
  const artifact = await ctx.media.load(params.artifactId)
  if (!artifact || !isStored(artifact)) throw new ApiError('not_found')
  if (await ctx.suspensions.isSuspended(artifact.tenantId)) throw new ApiError('not_found')
  const open = isPublic(artifact)
  if (!open && !(await isOwner(ctx, artifact, headers['x-collection-token'], req))) await assertVisible(ctx, headers, artifact)
  const variant = query.w === undefined ? undefined : { width: query.w, format: query.format ?? 'webp' }
  try {
    return await send(ctx, req, reply, artifact, { open, variant })
  } catch (error) {
    throw apiErrorOf(error)
  }
}

async function isOwner(
  ctx: Context,
  { tenantId, collectionId }: StoredArtifact,
  token: unknown,
  req: FastifyRequest,
): Promise<boolean> {
  if (typeof token !== 'string') return isMemberOf(ctx, tenantId, req.headers)
  return checkCapability('optional', token, await ctx.collections.get(tenantId, collectionId))
}

async function send(
  ctx: Context,
  req: FastifyRequest,
  reply: FastifyReply,
  artifact: StoredArtifact,
  { open, variant }: { open: boolean; variant: Variant | undefined },
): Promise<FastifyReply> {
  const original = originalOf(artifact)
  const sent = variant ? await findVariant(ctx, artifact, variant) : original
  const { key, mime, bytes, etag } = sent ?? original
  reply.header('content-disposition', `inline; filename="${artifact.id}.${extensionOf(mime)}"`)
  return sendBlob(req, reply, ctx.blobs, {
    key,
    mime,
    bytes,
    etag,
    // No cache may store what is not public, or what stands in for a smaller picture.
    cacheControl: open && sent ? 'public, max-age=31536000, immutable' : 'private, no-store',
    onStatus: (status) => recordAnswer(ctx, req, reply, 'getMedia', status),
    onSent: (count) => ctx.usageCounter.sent(artifact.tenantId, count),
  })
}

function originalOf(artifact: StoredArtifact) {
  const { mime, bytes, sha256 } = artifact
  return { key: originalKey(artifact, artifact.id), mime, bytes, etag: sha256 }
}

/**
 * undefined: too many pictures are being made, or there is no room for another one. A page has no other picture to show,
 * so the original is better than an error.
 */
async function findVariant(ctx: Context, artifact: StoredArtifact, variant: Variant) {
  if (!artifact.mime.startsWith('image/')) throw invalid('w', 'is only valid for pictures, and this artifact is a video')
  try {
    return await ctx.variants.get(artifact, variant)
  } catch (error) {
    // A store that cannot be read does not send the original either, and may take its time to fail once more.
    if (!(error instanceof PictureError || error instanceof NotStoredError || isDiskFull(error))) throw error
    ctx.log.warn({ err: error, artifact: artifact.id }, 'a smaller picture could not be made; the original is sent')
    return undefined
  }
}

function extensionOf(mime: string): string {
  return mime === 'image/jpeg' ? 'jpg' : mime.slice(mime.indexOf('/') + 1)
}

function apiErrorOf(error: unknown): unknown {
  // The artifact was deleted after it was loaded.
  if (error instanceof BlobError && error.code === 'not_found') return new ApiError('not_found')
  const isTransient = error instanceof BlobError && error.code === 'unavailable'
  return isTransient ? new ApiError('unavailable', { retryAfterSeconds, cause: error }) : error
}
