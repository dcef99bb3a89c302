import type { EventData, EventType } from '@atrium/contract/event-types'
import type { Tx } from '#db/database.ts'
import type { NewEvent } from './event.ts'
import { insertEvents } from './store.ts'

/** The compiler checks the data against what the contract declares for the type. */
export function event<T extends EventType>(tenantId: string, type: T, data: EventData<T>, wasOpen?: boolean): NewEvent {
  return { tenantId, type, data, wasOpen }
}

/** Writes the event to the outbox: the tenant receives it if this transaction commits. */
export async function recordEvent<T extends EventType>(tx: Tx, tenantId: string, type: T, data: EventData<T>): Promise<void> {
  await insertEvents(tx, [{ tenantId, type, data }])
}

export async function recordEvents(tx: Tx, events: NewEvent[]): Promise<void> {
  if (events.length > 0) await insertEvents(tx, events)
}
