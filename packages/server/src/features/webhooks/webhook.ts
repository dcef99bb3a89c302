import { defaultEndpoint } from '@atrium/contract/tokens'
import type { EventType } from '@atrium/contract/event-types'
import { randomBytes } from '#crypto/random.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'

/** An endpoint of a tenant. */
export interface EndpointRef {
  tenantId: string
  /** `default`, or an id. */
  endpointId: string
}

export interface Webhook extends EndpointRef {
  url: string
  /** null: all types, including future ones. */
  events: EventType[] | null
  enabled: boolean
  description: string | null
}

/** As text, for a map. */
export function keyOf({ tenantId, endpointId }: EndpointRef): string {
  return `${tenantId}/${endpointId}`
}

export function refOf(key: string): EndpointRef {
  const [tenantId = '', endpointId = ''] = key.split('/')
  return { tenantId, endpointId }
}

export function isDefault({ endpointId }: EndpointRef): boolean {
  return endpointId === defaultEndpoint
}

/** An attempt as it is stored with its delivery. */
export interface LoggedAttempt {
  at: string
  status: number | null
  ms: number
  answer: string | null
  error: string | null
}

/** An event queued for an endpoint. */
export interface Delivery {
  /** The event's id. */
  id: string
  endpointId: string
  type: EventType
  sequence: number
  status: 'pending' | 'succeeded' | 'failed'
  attempts: number
  /** The last ones. A process of an earlier release stores none. */
  attemptLog: LoggedAttempt[]
  responseStatus: number | null
  error: string | null
  createdAt: string
  lastAttemptAt: string | null
  nextAttemptAt: string | null
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

export function sealSecret(vault: Vault, ref: EndpointRef, id: string, secret: string): Buffer {
  return vault.seal(Buffer.from(secret), sealedRef(ref, id))
}

export function openSecret(vault: Vault, ref: EndpointRef, { id, sealed }: SealedSecret): string {
  return vault.open(sealed, sealedRef(ref, id)).toString()
}

function sealedRef(ref: EndpointRef, row: string): SealedRef {
  return {
    tenant: ref.tenantId,
    table: isDefault(ref) ? 'webhook_secrets' : 'webhook_endpoint_secrets',
    column: 'sealed',
    row,
  }
}
