import type { EventType } from '@atrium/contract/event-types'

/** A numbered event of the log. */
export interface Event {
  id: string
  type: EventType
  createdAt: string
  tenantId: string
  sequence: number
  data: Record<string, unknown>
  /** See chain.ts. null: numbered by a release without the chain, or the hash follows. */
  hash: string | null
  /** Of the event before; null: the chain begins here, or `hash` is null. */
  hashBefore: string | null
}

/** Whether anyone can see the item of the event from now on. number-spread.sql has the same rule. */
export function opensItem({ type, data }: Pick<Event, 'type' | 'data'>): boolean {
  const isOfItem = type === 'item.created' || type === 'item.updated'
  return isOfItem && data['access'] === 'open' && data['approved'] === true && data['archived'] === false
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
export function eventView({ id, type, createdAt, tenantId, sequence, data, hash, hashBefore }: Event) {
  return { id, type, created_at: createdAt, tenant_id: tenantId, sequence, data, hash, prev_hash: hashBefore }
}
