import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { listDeliveries as listRows } from '../delivery-store.ts'
import { deliveryView } from '../webhook.ts'

export const listDeliveries: HandlerOf<'listDeliveries'> = async ({ ctx, tenantId, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `deliveries:${tenantId}`
  const before = readCursor(list, query.cursor)
  const rows = await listRows(ctx.db, tenantId, before === 0 ? Number.MAX_SAFE_INTEGER : before, limit + 1)
  const { page, nextCursor } = cutPage(
    list,
    rows.map((row) => ({ ...row, seq: row.sequence })),
    limit,
  )
  return { status: 200, data: page.map(deliveryView), nextCursor }
}
