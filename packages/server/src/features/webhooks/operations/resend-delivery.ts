import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { notifyWorkers } from '#features/events/store.ts'
import { queueAgain } from '../delivery-store.ts'
import { findWebhook } from '../store.ts'
import { deliveryView } from '../webhook.ts'

export const resendDelivery: HandlerOf<'resendDelivery'> = async ({ tx, tenantId, params }) => {
  const delivery = await queueAgain(tx, tenantId, params.id)
  if (!delivery) throw new ApiError('not_found')
  const webhook = await findWebhook(tx, tenantId)
  if (!webhook?.enabled) throw new ApiError('state_conflict', { message: 'The webhook is disabled.' })
  await notifyWorkers(tx)
  return { status: 202, data: deliveryView(delivery) }
}
