import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findWebhook } from '../store.ts'
import { webhookView } from '../webhook.ts'

export const getWebhook: HandlerOf<'getWebhook'> = async ({ ctx, tenantId }) => {
  const webhook = await findWebhook(ctx.db, tenantId)
  if (!webhook) throw new ApiError('not_found', { message: 'No webhook is set.' })
  return { status: 200, data: webhookView(webhook) }
}
