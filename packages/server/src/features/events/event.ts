import type { EventType } from '@atrium/contract/event-types'

/** A numbered event of the log. */
export interface Event {
  id: string
  type: EventType
  createdAt: string
  tenantId: string
  sequence: number
  data: Record<string, unknown>
}

/** An event of any type that has no number yet: see `event` in record-event.ts. */
export interface NewEvent {
  tenantId: string
  type: EventType
  data: object
  /** For an event of an item: whether anyone could see the item before, so that public streams send its removal. */
  wasOpen?: boolean | undefined
}

/** An event as listEvents returns it and a webhook carries it. */
export function eventView({ id, type, createdAt, tenantId, sequence, data }: Event) {
  return { id, type, created_at: createdAt, tenant_id: tenantId, sequence, data }
}
