import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findCollectionForUpdate } from '#features/collections/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { changedAccessList } from '#features/items/access-list.ts'
import { artifactEvent } from '../artifact.ts'
import { clearArtifactHero, findArtifactForUpdate, updateArtifact } from '../store.ts'

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
  }
  if (after.hero && !artifact.hero) await clearArtifactHero(tx, tenantId, params.id)
  await updateArtifact(tx, tenantId, params.id, after)
  if (after.published && !artifact.published)
    await recordEvent(tx, tenantId, 'artifact.published', artifactEvent(params.id, artifact))
  return { status: 200, data: { ok: true } }
}
