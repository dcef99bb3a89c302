import { type EventType, eventTypes } from '@atrium/contract/event-types'
import { randomBytes } from '#crypto/random.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'

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

/** A sealed secret and the row that the seal is bound to. */
export interface SealedSecret {
  id: string
  sealed: Buffer
}

/** 32 random bytes in the form of Standard Webhooks. */
export function newSecret(): string {
  return `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`
}

export function sealSecret(vault: Vault, tenantId: string, id: string, secret: string): Buffer {
  return vault.seal(Buffer.from(secret), sealedRef(tenantId, id))
}

export function openSecret(vault: Vault, tenantId: string, { id, sealed }: SealedSecret): string {
  return vault.open(sealed, sealedRef(tenantId, id)).toString()
}

function sealedRef(tenant: string, row: string): SealedRef {
  return { tenant, table: 'webhook_secrets', column: 'sealed', row }
}
