import type { Handlers } from '../handler.ts'
import { listDeliveries } from './operations/list-deliveries.ts'
import { resendDelivery } from './operations/resend-delivery.ts'
import { getWebhook, setWebhook } from './operations/set-webhook.ts'
import { testWebhook } from './operations/test-webhook.ts'

export const webhookHandlers = {
  getWebhook,
  listDeliveries,
  resendDelivery,
  setWebhook,
  testWebhook,
} satisfies Partial<Handlers>
