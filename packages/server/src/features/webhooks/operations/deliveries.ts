import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import { notifyWorkers } from '#features/events/store.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { listDeliveries as listRows, queueAgain } from '../delivery-store.ts'
import { findWebhook } from '../store.ts'
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

export const resendDelivery: HandlerOf<'resendDelivery'> = async ({ tx, tenantId, params }) => {
  const delivery = await queueAgain(tx, tenantId, params.id)
  if (!delivery) throw new ApiError('not_found')
  const webhook = await findWebhook(tx, tenantId)
  if (!webhook?.enabled) throw new ApiError('state_conflict', { message: 'The webhook is disabled.' })
  await notifyWorkers(tx)
  return { status: 202, data: deliveryView(delivery) }
}
