import type { HandlerOf } from '#features/handler.ts'
import { readTimeQuery } from '#http/time-page.ts'
import { checkoutView } from './checkout.ts'
import { listCheckouts as listRows } from './store.ts'

/** Without license keys: reading one checkout answers its key. */
export const listCheckouts: HandlerOf<'listCheckouts'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`checkouts:${tenantId}`, query)
  const { status, purpose } = query
  const nowMs = Date.now()
  const { checkouts, last } = await listRows(ctx.db, tenantId, { status, purpose, range, limit, nowMs })
  return { status: 200, data: checkouts.map((one) => checkoutView(one, nowMs)), nextCursor: cursorAfter(last) }
}
