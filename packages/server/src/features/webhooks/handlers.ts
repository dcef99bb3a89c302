import type { Handlers } from '../handler.ts'
import { listDeliveries, resendDelivery } from './operations/deliveries.ts'
import { getWebhook, setWebhook, testWebhook } from './operations/webhook.ts'

export const webhookHandlers = {
  getWebhook,
  listDeliveries,
  resendDelivery,
  setWebhook,
  testWebhook,
} satisfies Partial<Handlers>
