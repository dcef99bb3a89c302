import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findCollectionForUpdate } from '#features/collections/store.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { changedAccessList } from '#features/items/access-list.ts'
import { artifactEvent } from '../artifact-event.ts'
import { clearArtifactHero, findArtifactForUpdate, updateArtifact } from '../store.ts'

export const curateArtifact: HandlerOf<'curateArtifact'> = (ctx, { tenant, params, body }) =>
  ctx.db.lane(params.id).transaction(async (tx) => {
    // The collection before its artifacts: two heroes at once are set one after the other.
    await findCollectionForUpdate(tx, tenant, params.id)
    const artifact = await findArtifactForUpdate(tx, tenant, params.id, params.artifactId)
    if (!artifact) throw new ApiError('not_found')
    const listed = { tenantId: tenant, table: 'artifacts', id: artifact.id } as const
    const after = {
      ...artifact,
      approved: body.approved ?? artifact.approved,
      published: body.published ?? artifact.published,
      hero: body.hero ?? artifact.hero,
      archived: body.archived ?? artifact.archived,
      access: body.access ?? artifact.access,
      accessList: changedAccessList(ctx.vault, listed, artifact.accessList, body),
    }
    if (after.hero && !artifact.hero) await clearArtifactHero(tx, tenant, params.id)
    await updateArtifact(tx, tenant, params.id, after)
    if (after.published && !artifact.published)
      await recordEvent(tx, tenant, 'artifact.published', artifactEvent(params.id, artifact))
    return { status: 200, data: { ok: true } }
  })
