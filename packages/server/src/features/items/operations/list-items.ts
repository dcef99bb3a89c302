import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { itemView } from '../item.ts'
import { listItems as listRows, listItemsWithin } from '../store.ts'

/** So many items fit into a page whatever they hold. Counting bytes takes as long as reading small items does: only longer pages are counted. */
const wholeItems = limits.pageDefault
/** Of contents in a page. */
const pageBytes = wholeItems * limits.itemContentBytes

export const listItems: HandlerOf<'listItems'> = async ({ ctx, tenantId, collection, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `items:${collection.id}`
  const afterSeq = readCursor(list, query.cursor)
  const { items, end = limit } =
    limit <= wholeItems
      ? { items: await listRows(ctx.db, tenantId, collection.id, afterSeq, limit + 1) }
      : await listItemsWithin(ctx.db, tenantId, collection.id, { afterSeq, limit: limit + 1, bytes: pageBytes })
  const { page, nextCursor } = cutPage(list, items, end)
  return {
    status: 200,
    data: { id: collection.id, state: collection.state, app_state: collection.appState, items: page.map(itemView) },
    nextCursor,
  }
}
