import { eventTypes, type EventType } from '@atrium/contract/event-types'

export interface Webhook {
  tenantId: string
  url: string
  /** null: all types, including future ones. */
  events: EventType[] | null
  enabled: boolean
}

export function webhookView({ url, events, enabled }: Webhook) {
  return { url, events: events ?? eventTypes, enabled }
}

/** An event queued for a webhook. */
export interface Delivery {
  /** The event's id. */
  id: string
  type: EventType
  sequence: number
  status: 'pending' | 'succeeded' | 'failed'
  attempts: number
  responseStatus: number | null
  error: string | null
  createdAt: string
  lastAttemptAt: string | null
  nextAttemptAt: string | null
}

export function deliveryView(delivery: Delivery) {
  return {
    id: delivery.id,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    response_status: delivery.responseStatus,
    error: delivery.error,
    created_at: delivery.createdAt,
    last_attempt_at: delivery.lastAttemptAt,
    next_attempt_at: delivery.nextAttemptAt,
  }
}
