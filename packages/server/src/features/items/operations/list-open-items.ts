import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { openItemView } from '../item.ts'
import { listOpenItems as listRows } from '../open-items-store.ts'
import { maxPageBytes } from './read-items.ts'

export const listOpenItems: HandlerOf<'listOpenItems'> = async ({ ctx, tenantId, collection, query }) => {
  const { order = 'newest', type, limit = limits.pageDefault } = query
  const list = `open:${collection.id}:${order}:${type ?? ''}`
  const start = order === 'newest' ? Number.MAX_SAFE_INTEGER : 0
  const after = query.cursor === undefined ? start : readCursor(list, query.cursor)
  // What is sealed to the recipient of a box is of no use to others, whatever access an owner gave it.
  if (collection.boxRecipient) return { status: 200, data: [] }
  const { items, end = limit } = await listRows(ctx.db, tenantId, collection.id, {
    order,
    type,
    after,
    limit,
    maxBytes: maxPageBytes,
  })
  const { page, nextCursor } = cutPage(list, items, end)
  return {
    status: 200,
    data: page.map(openItemView),
    nextCursor,
  }
}
