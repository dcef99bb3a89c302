import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db, type Statement, type Tx, type Waking } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import type { Event, NewEvent } from './event.ts'

/** Carries a notification, without a payload, whenever there may be events to number or to deliver. */
export const eventChannel = 'atrium_events'

const insertStatement = statement<never>(
  'events-insert',
  `insert into event_outbox (tenant_id, id, type, data, was_open)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::json[], $5::boolean[])`,
)

/** Writes to the outbox, of one or several tenants. The events receive their numbers after the commit. */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<void> {
  await tx.query(insertStatement, [
    events.map(({ tenantId }) => tenantId),
    events.map(() => newId('event')),
    events.map(({ type }) => type),
    events.map(({ data }) => JSON.stringify(data)),
    events.map(({ wasOpen }) => wasOpen ?? null),
  ])
  tx.wake(eventChannel)
}

/** number-outbox.sql explains the function. */
const numberStatement = statement<NumberedRow>('events-number', 'select given, queued from number_outbox($1, $2)', {
  writes: true,
})

interface NumberedRow {
  given: number
  queued: number
}

/** Numbers the tenants' events in the outbox, up to `maxEach` of each tenant; returns how many it numbered. */
export function numberEvents(db: Db & Waking, tenantIds: string[], maxEach: number): Promise<number> {
  return number(db, numberStatement, tenantIds, maxEach)
}

/** try-number-outbox.sql explains the function. */
const tryNumberStatement = statement<NumberedRow>('events-try-number', 'select given, queued from try_number_outbox($1, $2)', {
  writes: true,
})

/** The same without waiting: skips tenants whose events another process is numbering. */
export function numberFreeEvents(db: Db & Waking, tenantIds: string[], maxEach: number): Promise<number> {
  return number(db, tryNumberStatement, tenantIds, maxEach)
}

async function number(db: Db & Waking, stmt: Statement<NumberedRow>, tenantIds: string[], maxEach: number): Promise<number> {
  const [row] = await db.query(stmt, [tenantIds, maxEach])
  // The workers deliver what was queued.
  if (row && row.queued > 0) db.wake(eventChannel)
  return row?.given ?? 0
}

const waitingStatement = statement<{ tenant_id: string }>(
  'events-waiting',
  // Steps from tenant to tenant through the index: one index look-up a tenant, however many events each of them has.
  `with recursive waiting (tenant_id, step) as (
     (select tenant_id, 1 from event_outbox where tenant_id > $1 order by tenant_id limit 1)
     union all
     select (select o.tenant_id from event_outbox o where o.tenant_id > w.tenant_id order by o.tenant_id limit 1), w.step + 1
     from waiting w
     where w.tenant_id is not null and w.step < $2
   )
   select tenant_id from waiting where tenant_id is not null`,
)

/** Tenants with events in the outbox, by id, after the given one. */
export async function listWaitingTenants(db: Db, afterTenantId: string, limit: number): Promise<string[]> {
  return (await db.query(waitingStatement, [afterTenantId, limit])).map((row) => row.tenant_id)
}

export interface EventRow {
  tenant_id: string
  sequence: number
  id: string
  type: EventType
  data: Record<string, unknown>
  created_at: string
}

export const eventColumns = 'tenant_id, sequence, id, type, data, created_at'

export function toEvent({ tenant_id: tenantId, created_at: createdAt, ...same }: EventRow): Event {
  return { ...same, tenantId, createdAt }
}

const listStatement = statement<EventRow>(
  'events-list',
  `select ${eventColumns} from events
   where tenant_id = $1 and sequence > $2 order by sequence limit $3`,
)

export async function listEvents(db: Db, tenantId: string, afterSequence: number, limit: number): Promise<Event[]> {
  return (await db.query(listStatement, [tenantId, afterSequence, limit])).map(toEvent)
}

const old = `from events where created_at < now() - make_interval(days => $1)`
const anyOldStatement = statement<{ any: boolean }>('events-any-old', `select exists (select ${old}) as any`)

export async function hasOldEvents(db: Db, days: number): Promise<boolean> {
  const [row] = await db.query(anyOldStatement, [days])
  return row?.any ?? false
}

const deleteStatement = statement<{ tenant_id: string; sequence: number }>(
  'events-delete-old',
  `delete from events where (tenant_id, sequence) in (select tenant_id, sequence ${old} order by created_at limit $2 for update skip locked)
   returning tenant_id, sequence`,
)

/** Deletes up to `limit` events that are older than that many days; returns which. */
export async function deleteOldEvents(tx: Tx, days: number, limit: number): Promise<{ tenantId: string; sequence: number }[]> {
  const rows = await tx.query(deleteStatement, [days, limit])
  return rows.map(({ tenant_id: tenantId, sequence }) => ({ tenantId, sequence }))
}
