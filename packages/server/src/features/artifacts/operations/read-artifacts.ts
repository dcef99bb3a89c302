import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findAccount } from '#features/items/access-list.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { artifactView } from '../artifact.ts'
import { findArtifact, listArtifacts as listRows } from '../store.ts'
import { assertVisible, filterVisible } from '../visibility.ts'

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
