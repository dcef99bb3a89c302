import type { EventType } from '@atrium/contract/event-types'

/** An event as the log has it. */
export interface Event {
  id: string
  type: EventType
  createdAt: string
  tenantId: string
  sequence: number
  data: Record<string, unknown>
}

/** As listEvents shows it and as a webhook carries it. */
export function eventView({ id, type, createdAt, tenantId, sequence, data }: Event) {
  return { id, type, created_at: createdAt, tenant_id: tenantId, sequence, data }
}
