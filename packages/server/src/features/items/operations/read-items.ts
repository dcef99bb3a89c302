import { limits } from '@atrium/contract/limits'
import type { QueryOf } from '@atrium/contract/operation'
import type { Operations } from '@atrium/contract/table'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import type { Context } from '#features/context.ts'
import { cutPage, filteredList, makeCursor, readCursor } from '#http/cursor.ts'
import { requestTime } from '#http/request-time.ts'
import { scannedPage } from '#http/scanned-page.ts'
import { assertListed } from '../access-list.ts'
import { itemView, openItemView } from '../item.ts'
import { type ItemOrder, listOpenItems as listOpenRows } from '../open-items-store.ts'
import { type ItemFilters, countWithin, findSeqRange, searchItems } from '../search-store.ts'
import { findItem, listItems as listRows, listItemsBySeq, listItemsWithin } from '../store.ts'

/** A page of up to this many items is never cut by size: measuring takes as long as reading small items. */
const uncountedItems = limits.pageDefault
/** The contents of a longer page have at most this size. */
const maxPageBytes = uncountedItems * limits.itemContentBytes

export const getItem: HandlerOf<'getItem'> = async ({ ctx, tenantId, params, headers, owner }) => {
  const item = await findItem(ctx.db, tenantId, params.id, params.itemId)
  if (!item || (item.access === 'owner' && !owner)) throw new ApiError('not_found')
  if (item.access === 'email' && !owner)
    await assertListed(ctx, headers, { tenantId, table: 'items', id: item.id, accessList: item.accessList })
  return { status: 200, data: itemView(item) }
}

export const listItems: HandlerOf<'listItems'> = async ({ ctx, tenantId, collection, query }) => {
  const { limit = limits.pageDefault, cursor, order = 'oldest', ...given } = query
  const filters = readFilters(given)
  const plain = order === 'oldest' && !filters
  const { page, nextCursor } = plain
    ? await plainPage(ctx, tenantId, collection.id, { limit, cursor })
    : await filteredPage(ctx, tenantId, collection.id, { limit, cursor, order, filters: filters ?? {} })
  return {
    status: 200,
    data: { id: collection.id, state: collection.state, app_state: collection.appState, items: page.map(itemView) },
    nextCursor,
  }
}

type FilterQuery = Omit<QueryOf<Operations['listItems']>, 'limit' | 'cursor' | 'order'>

/** undefined: nothing is filtered. */
export function readFilters({ q, from, to, ...exact }: FilterQuery): ItemFilters | undefined {
  const filters = {
    ...exact,
    text: q,
    from: from === undefined ? undefined : requestTime(from, '/from'),
    to: to === undefined ? undefined : requestTime(to, '/to'),
  }
  return Object.values(filters).every((value) => value === undefined) ? undefined : filters
}

interface PageQuery {
  limit: number
  cursor: string | undefined
}

/** All items, oldest first. */
async function plainPage(ctx: Context, tenantId: string, collectionId: string, { limit, cursor }: PageQuery) {
  const list = `items:${collectionId}`
  const afterSeq = readCursor(list, cursor)
  const { items, end = limit } =
    limit <= uncountedItems
      ? { items: await listRows(ctx.db, tenantId, collectionId, { afterSeq, limit: limit + 1 }) }
      : await listItemsWithin(ctx.db, tenantId, collectionId, { afterSeq, limit: limit + 1, maxBytes: maxPageBytes })
  return cutPage(list, items, end)
}

/** Finds the positions first, and then reads only the items of the page. */
async function filteredPage(
  ctx: Context,
  tenantId: string,
  collectionId: string,
  { limit, cursor, order, filters }: PageQuery & { order: ItemOrder; filters: ItemFilters },
) {
  const list = filteredList(`items:${collectionId}`, { ...filters, order })
  const position = cursor === undefined ? undefined : readCursor(list, cursor)
  const range = await findSeqRange(ctx.db, tenantId, collectionId, filters)
  if (position !== undefined && order === 'oldest') range.after = Math.max(range.after, position)
  if (position !== undefined && order === 'newest') range.before = Math.min(range.before, position)
  const found = await searchItems(ctx.db, tenantId, collectionId, { filters, order, range, limit: limit + 1 })
  const { page, last } = scannedPage(found, Math.min(limit, countWithin(found, maxPageBytes)))
  const items = await listItemsBySeq(
    ctx.db,
    tenantId,
    collectionId,
    page.map(({ seq }) => seq),
  )
  return { page: items, nextCursor: last && makeCursor(list, last.seq) }
}

export const listOpenItems: HandlerOf<'listOpenItems'> = async ({ ctx, tenantId, collection, query }) => {
  const { order = 'newest', type, limit = limits.pageDefault } = query
  const list = `open:${collection.id}:${order}:${type ?? ''}`
  const start = order === 'newest' ? Number.MAX_SAFE_INTEGER : 0
  const after = query.cursor === undefined ? start : readCursor(list, query.cursor)
  // A sealed item of a box is useless to others, whatever access an owner gave it.
  if (collection.boxRecipient) return { status: 200, data: [] }
  const { items, end = limit } = await listOpenRows(ctx.db, tenantId, collection.id, {
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
