import { newId } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { blobDeletionsOfArtifact } from '#features/blob-deletions/blob-keys.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'
import { findCollectionForUpdate } from '#features/collections/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { changedAccessList } from '#features/items/access-list.ts'
import { artifactEvent, artifactView } from '../artifact.ts'
import {
  clearArtifactHero,
  deleteArtifact as deleteRow,
  findArtifactForUpdate,
  insertHostedArtifact,
  updateArtifact,
} from '../store.ts'

export const createArtifact: HandlerOf<'createArtifact'> = async ({ ctx, tx, tenantId, collection, body }) => {
  const { kind, title = null, alt = null } = body
  const id = newId('artifact')
  const url = hostedUrl(body.url, ctx.config.publicUrl)
  await insertHostedArtifact(tx, tenantId, collection.id, { id, kind, url, title, alt })
  await recordEvent(tx, tenantId, 'artifact.ready', artifactEvent(collection.id, { id, kind, source: 'url' }))
  return { status: 201, data: { id } }
}

/** Accepts https, and this installation's own origin, which is plain http in development. */
function hostedUrl(text: string, publicUrl: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const own = new URL(publicUrl)
  // The origin of a blob: address is that of the page that made it.
  if (!url || (url.protocol !== 'https:' && (url.protocol !== own.protocol || url.origin !== own.origin)))
    throw invalid('/url', 'must be an https address')
  if (url.username || url.password) throw invalid('/url', 'must not contain a user name or password')
  return url.href
}

export const curateArtifact: HandlerOf<'curateArtifact'> = async ({ ctx, tx, tenantId, params, body }) => {
  // Locks the collection before its artifacts, so that two concurrent requests for a hero run one after the other.
  await findCollectionForUpdate(tx, tenantId, params.id)
  const artifact = await findArtifactForUpdate(tx, tenantId, params.id, params.artifactId)
  if (!artifact) throw new ApiError('not_found')
  const listed = { tenantId, table: 'artifacts', id: artifact.id } as const
  const after = {
    ...artifact,
    approved: body.approved ?? artifact.approved,
    published: body.published ?? artifact.published,
    hero: body.hero ?? artifact.hero,
    archived: body.archived ?? artifact.archived,
    access: body.access ?? artifact.access,
    accessList: changedAccessList(ctx.vault, listed, artifact.accessList, body),
    title: body.title === undefined ? artifact.title : body.title,
    alt: body.alt === undefined ? artifact.alt : body.alt,
  }
  if (after.hero && !artifact.hero) await clearArtifactHero(tx, tenantId, params.id)
  await updateArtifact(tx, tenantId, params.id, after)
  if (after.published && !artifact.published)
    await recordEvent(tx, tenantId, 'artifact.published', artifactEvent(params.id, artifact))
  return { status: 200, data: { ok: true, ...artifactView(after) } }
}

export const deleteArtifact: HandlerOf<'deleteArtifact'> = async ({ tx, tenantId, params }) => {
  if (!(await deleteRow(tx, tenantId, params.id, params.artifactId))) throw new ApiError('not_found')
  await insertBlobDeletions(tx, blobDeletionsOfArtifact({ tenantId, collectionId: params.id }, params.artifactId))
  const data = { collection_id: params.id, artifact_id: params.artifactId }
  await recordEvent(tx, tenantId, 'artifact.deleted', data)
  return { status: 204 }
}
