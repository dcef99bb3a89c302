import { eventTypes } from '@atrium/contract/event-types'
import type { Delivery, Webhook } from './webhook.ts'

/** What `PUT /tenant/webhooks` shows of the endpoint `default`. */
export function webhookView({ url, events, enabled }: Webhook) {
  return { url, events: events ?? eventTypes, enabled }
}

export function endpointView(webhook: Webhook) {
  return { id: webhook.endpointId, ...webhookView(webhook), description: webhook.description }
}

/** `withLog`: `attempts` is their list, and otherwise their number. */
export function deliveryView(delivery: Delivery, withLog: boolean) {
  return {
    id: delivery.id,
    endpoint: delivery.endpointId,
    type: delivery.type,
    status: delivery.status,
    attempts: withLog ? delivery.attemptLog : delivery.attempts,
    response_status: delivery.responseStatus,
    error: delivery.error,
    created_at: delivery.createdAt,
    last_attempt_at: delivery.lastAttemptAt,
    next_attempt_at: delivery.nextAttemptAt,
  }
}
