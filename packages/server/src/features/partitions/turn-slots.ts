import type { Config } from '#config/config.ts'
import { isLocked } from '@atrium/traffic/database-errors'
import type { Database } from '#db/database.ts'
import { emptySlot, listExpired, openNextSlot, refreshSlots, type SlottedTable } from './slot-store.ts'

const hour = 3_600
const day = 24 * hour

/** The retention of what is in slots. */
type SlotDays = Pick<Config['retentionDays'], 'events' | 'requests'>

/** When the slots of a table turn, and when a closed one may be emptied. */
interface Schedule {
  table: SlottedTable
  /** How long a slot stays open. */
  openSeconds: number
  /** How long a closed slot is kept. */
  keptSeconds: number
}

/**
 * The rows of the outbox wait for a few seconds. A closed slot is kept for a minute, so that whoever read the sequence
 * before the turn has committed: a row that comes later only delays the next attempt. Deliveries and logged requests:
 * four closed slots of a third of the retention cover it, and the hour covers what was written late into a closed slot.
 */
function schedules({ events, requests }: SlotDays): Schedule[] {
  // A log that was switched off is emptied within two days.
  const ofRequests = { openSeconds: (Math.max(requests, 1) * day) / 3, keptSeconds: Math.max(requests, 1) * day + hour }
  return [
    { table: 'event_outbox', openSeconds: hour, keptSeconds: 60 },
    { table: 'webhook_deliveries', openSeconds: (events * day) / 3, keptSeconds: events * day + hour },
    { table: 'webhook_endpoint_deliveries', openSeconds: (events * day) / 3, keptSeconds: events * day + hour },
    { table: 'request_log', ...ofRequests },
    { table: 'request_log_chunks', ...ofRequests },
  ]
}

/** Empties the closed slots whose time is over, and opens the next slot where it is due and the slot is empty. */
export async function turnSlots(db: Database, days: SlotDays): Promise<void> {
  for (const { table, openSeconds, keptSeconds } of schedules(days)) {
    await db.transaction((tx) => refreshSlots(tx, table))
    for (const slot of await listExpired(db, table, keptSeconds)) await emptyUnlessLocked(db, table, slot, keptSeconds)
    await db.transaction((tx) => openNextSlot(tx, table, openSeconds))
  }
}

/** A slot that is in use is left for the next sweep: whoever uses the table queues behind the wait for the lock. */
async function emptyUnlessLocked(db: Database, table: SlottedTable, slot: number, keptSeconds: number): Promise<void> {
  try {
    await db.transactionOnce((tx) => emptySlot(tx, table, slot, keptSeconds))
  } catch (error) {
    if (!isLocked(error)) throw error
  }
}
