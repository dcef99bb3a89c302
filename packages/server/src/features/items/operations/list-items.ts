import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '../../../http/call.ts'
import { cutPage, readCursor } from '../../../http/cursor.ts'
import { itemView } from '../item.ts'
import { listItems as listRows } from '../store.ts'

export const listItems: HandlerOf<'listItems'> = async (ctx, { tenant, collection, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `items:${collection.id}`
  const rows = await listRows(ctx.db, tenant, collection.id, readCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPage(list, rows, limit)
  return {
    status: 200,
    data: { id: collection.id, state: collection.state, app_state: collection.appState, items: page.map(itemView) },
    nextCursor,
  }
}
