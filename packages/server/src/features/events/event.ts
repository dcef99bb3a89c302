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

/** An event as listEvents returns it and a webhook carries it. */
export function eventView({ id, type, createdAt, tenantId, sequence, data }: Event) {
  return { id, type, created_at: createdAt, tenant_id: tenantId, sequence, data }
}
