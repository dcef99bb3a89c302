import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { filteredList, makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { listCollections as listRows } from '../list-store.ts'

export const listCollections: HandlerOf<'listCollections'> = async ({ ctx, tenantId, query }) => {
  const { state, q, limit = limits.pageDefault, cursor } = query
  const list = filteredList(`collections:${tenantId}`, { state, q })
  const after = readTimeCursor(list, cursor)
  const { collections, last } = await listRows(ctx.db, tenantId, { state, titlePart: q, after, limit })
  return {
    status: 200,
    data: collections.map((one) => ({
      id: one.id,
      state: one.state,
      contributor_policy: one.contributorPolicy,
      item_count: one.itemCount,
      created_at: one.createdAt,
      metadata: one.metadata,
    })),
    nextCursor: last && makeTimeCursor(list, last),
  }
}
