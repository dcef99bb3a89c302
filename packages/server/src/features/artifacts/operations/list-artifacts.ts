import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '../../../http/call.ts'
import { cutPage, readCursor } from '../../../http/cursor.ts'
import { artifactView } from '../artifact.ts'
import { listArtifacts as listRows } from '../store.ts'

export const listArtifacts: HandlerOf<'listArtifacts'> = async (ctx, { tenant, collection, query, owner }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `artifacts:${collection.id}`
  const rows = await listRows(ctx.db, tenant, collection.id, {
    afterSeq: readCursor(list, query.cursor),
    limit: limit + 1,
    all: owner,
  })
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map(artifactView), nextCursor }
}
