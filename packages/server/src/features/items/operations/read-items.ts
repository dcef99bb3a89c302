import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { assertListed } from '../access-list.ts'
import { itemView } from '../item.ts'
import { findItem, listItems as listRows, listItemsWithin } from '../store.ts'

/** A page of up to this many items is never cut by bytes: counting them takes as long as reading small items does. */
const uncountedItems = limits.pageDefault
/** The contents of a longer page have at most this size. */
export const maxPageBytes = uncountedItems * limits.itemContentBytes

export const getItem: HandlerOf<'getItem'> = async ({ ctx, tenantId, params, headers, owner }) => {
  const item = await findItem(ctx.db, tenantId, params.id, params.itemId)
  if (!item || (item.access === 'owner' && !owner)) throw new ApiError('not_found')
  if (item.access === 'email' && !owner)
    await assertListed(ctx, headers, { tenantId, table: 'items', id: item.id, accessList: item.accessList })
  return { status: 200, data: itemView(item) }
}

export const listItems: HandlerOf<'listItems'> = async ({ ctx, tenantId, collection, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `items:${collection.id}`
  const afterSeq = readCursor(list, query.cursor)
  const { items, end = limit } =
    limit <= uncountedItems
      ? { items: await listRows(ctx.db, tenantId, collection.id, { afterSeq, limit: limit + 1 }) }
      : await listItemsWithin(ctx.db, tenantId, collection.id, { afterSeq, limit: limit + 1, maxBytes: maxPageBytes })
  const { page, nextCursor } = cutPage(list, items, end)
  return {
    status: 200,
    data: { id: collection.id, state: collection.state, app_state: collection.appState, items: page.map(itemView) },
    nextCursor,
  }
}
