import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db, type Tx } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import type { Event, NewEvent } from './event.ts'

/**
 * Carries a notification whenever there may be events to number or to deliver. Its payload is `wakeUpOf` the tenants with
 * events in the outbox, or `deliveriesOnly`. Empty: any tenant may have some.
 */
export const eventChannel = 'atrium_events'

/** Says that there is something to deliver, and nothing to number. */
export const deliveriesOnly = '-'

const maxNamed = 50

/** Empty for many tenants: looking for them costs less than a long list to every listener. */
export function wakeUpOf(tenantIds: Iterable<string>): string {
  const ids = [...new Set(tenantIds)]
  return ids.length > maxNamed ? '' : ids.join(' ')
}

/** The tenants that a wake-up names; undefined: any tenant may have events. */
export function tenantsOf(wakeUp: string): string[] | undefined {
  if (wakeUp === '') return undefined
  return wakeUp === deliveriesOnly ? [] : wakeUp.split(' ')
}

const insertStatement = statement<never>(
  'events-insert',
  // The transaction gets its number before it takes a position: see OutboxFloors. A deleted tenant gets no events:
  // only its books still change, and nobody can read them.
  `insert into event_outbox (tenant_id, id, type, data, was_open)
   select e.tenant_id, e.id, e.type, e.data, e.was_open
   from unnest($1::text[], $2::text[], $3::text[], $4::json[], $5::boolean[]) with ordinality
     as e (tenant_id, id, type, data, was_open, nth)
   where pg_current_xact_id() is not null
     and not exists (select from tenant_deletions d where d.tenant_id = e.tenant_id and d.finished_at is not null)
   order by e.nth`,
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
  tx.wake(eventChannel, wakeUpOf(events.map(({ tenantId }) => tenantId)))
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
  hash: string | null
  hash_before: string | null
}

export const eventColumns = `tenant_id, sequence, id, type, data, created_at,
  encode(hash, 'hex') as hash, encode(hash_before, 'hex') as hash_before`

export function toEvent({ tenant_id: tenantId, created_at: createdAt, hash_before: hashBefore, ...same }: EventRow): Event {
  return { ...same, tenantId, createdAt, hashBefore }
}

const listStatement = statement<EventRow>(
  'events-list',
  `select ${eventColumns} from events
   where tenant_id = $1 and sequence > $2 order by sequence limit $3`,
)

export async function listEvents(db: Db, tenantId: string, afterSequence: number, limit: number): Promise<Event[]> {
  return (await db.query(listStatement, [tenantId, afterSequence, limit])).map(toEvent)
}

const sinceStatement = statement<{ sequence: number }>(
  'events-since',
  'select sequence from events where tenant_id = $1 and sequence = any ($2::bigint[]) and created_at >= $3 order by sequence',
)

/** Which of these events were written at that time or later. */
export async function listSequencesSince(db: Db, tenantId: string, sequences: number[], since: string): Promise<number[]> {
  return (await db.query(sinceStatement, [tenantId, sequences, since])).map(({ sequence }) => sequence)
}

const old = `from events where created_at < now() - make_interval(days => $1)`
// In the order of the index, which a plan for any number of days would else not use. Not exists(): Citus would fetch every
// old event to answer it.
const anyOldStatement = statement<{ any: boolean }>('events-any-old', `select true as any ${old} order by created_at limit 1`)

export async function hasOldEvents(db: Db, days: number): Promise<boolean> {
  return (await db.query(anyOldStatement, [days])).length > 0
}

export interface EventKey {
  tenantId: string
  sequence: number
}

const deleteStatement = statement<{ tenant_id: string; sequence: number }>(
  'events-delete-old',
  // The earliest numbers first, so that the events that stay follow each other. An event that was written late, in a
  // long transaction, has a greater number than a later one: the one before it is deleted with it.
  `with ends as (
     select o.tenant_id, max(o.sequence) as last
     from (select tenant_id, sequence ${old} order by created_at limit $2) o
     group by o.tenant_id
   ), chosen as materialized (
     select n.tenant_id, n.sequence
     from ends x
     cross join lateral (
       select e.tenant_id, e.sequence from events e where e.tenant_id = x.tenant_id and e.sequence <= x.last
       order by e.sequence limit $2 for update skip locked
     ) n
     limit $2
   )
   delete from events e using chosen c where e.tenant_id = c.tenant_id and e.sequence = c.sequence
   returning e.tenant_id, e.sequence`,
)

/** Deletes up to `limit` events that are older than that many days, and those before them; returns which. */
export async function deleteOldEvents(tx: Tx, days: number, limit: number): Promise<EventKey[]> {
  const rows = await tx.query(deleteStatement, [days, limit])
  return rows.map(({ tenant_id: tenantId, sequence }) => ({ tenantId, sequence }))
}

const endsStatement = statement<{ tenant_id: string; last: number }>(
  'events-old-ends',
  `select tenant_id, max(sequence) as last
   from (select tenant_id, sequence ${old} order by created_at limit $2) o group by tenant_id`,
)

const deleteOfTenantStatement = statement<{ sequence: number }>(
  'events-delete-old-of-tenant',
  `delete from events where tenant_id = $1 and sequence in (
     select e.sequence from events e where e.tenant_id = $1 and e.sequence <= $2 order by e.sequence limit $3 for update skip locked
   )
   returning sequence`,
)

const twoPhasesStatement = statement<never>(
  'events-two-phases',
  // As commit_in_two_phases does: a commit on the node alone would leave deliveries of events that are gone.
  'insert into events select e.* from unnest(array[]::events[]) e',
)

/**
 * Where events are spread, the transaction commits on the coordinator first, and both parts are committed or none. Citus
 * otherwise commits on one node, and then on the coordinator.
 */
export async function commitInTwoPhases(tx: Tx): Promise<void> {
  await tx.query(twoPhasesStatement, [])
}

/** As deleteOldEvents, where events are spread: one statement looks, and one deletes for each tenant. */
export async function deleteOldSpreadEvents(tx: Tx, days: number, limit: number): Promise<EventKey[]> {
  const deleted: EventKey[] = []
  for (const { tenant_id: tenantId, last } of await tx.query(endsStatement, [days, limit])) {
    if (deleted.length >= limit) break
    const rows = await tx.query(deleteOfTenantStatement, [tenantId, last, limit - deleted.length])
    deleted.push(...rows.map(({ sequence }) => ({ tenantId, sequence })))
  }
  if (deleted.length > 0) await commitInTwoPhases(tx)
  return deleted
}
