import { Locked } from '@atrium/traffic/batcher'
import type { EventType } from '@atrium/contract/event-types'
import { statement, type Database, type Db, type Tx } from '#db/database.ts'
import type { Event } from '../events/event.ts'
import { deleteOldEvents, deleteOldSpreadEvents, type EventKey, type EventRow, hasOldEvents, toEvent } from '../events/store.ts'
import type { Attempt } from './send-event.ts'
import { type EndpointTables, forEach, of, pairsOf } from './store.ts'
import { type Delivery, type EndpointRef, keyOf, type LoggedAttempt } from './webhook.ts'

// These statements join the event log, which belongs to the events feature: a delivery is a row of keys, and its event
// is read in the same round trip, up to 64 events at a time for each endpoint.

export interface DeliveryRow {
  id: string
  endpoint_id: string
  type: EventType
  sequence: number
  status: Delivery['status']
  attempts: number
  attempt_log: LoggedAttempt[] | null
  response_status: number | null
  error: string | null
  created_at: string
  last_attempt_at: string | null
  next_attempt_at: string | null
}

export const columnsOf = ({ idOf }: EndpointTables) =>
  `d.id, ${idOf('d')} as endpoint_id, e.type, d.sequence, d.status, d.attempts, d.attempt_log, d.response_status, d.error, d.created_at,
  d.last_attempt_at, d.next_attempt_at`

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    type: row.type,
    sequence: row.sequence,
    status: row.status,
    attempts: row.attempts,
    attemptLog: row.attempt_log ?? [],
    responseStatus: row.response_status,
    error: row.error,
    createdAt: row.created_at,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
  }
}

const listStatements = forEach((t) =>
  statement<DeliveryRow>(
    `webhooks-deliveries-${t.kind}`,
    // Events are deleted from the beginning: those that the join does not find are the last of the list.
    `with chosen as materialized (
       select d.* from ${t.deliveries} d
       where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.sequence < $3
       order by d.sequence desc limit $4
     )
     select ${columnsOf(t)}
     from chosen d
     join events e on e.tenant_id = $1 and e.sequence = d.sequence
     order by d.sequence desc`,
  ),
)

/** The newest first, starting before the given sequence. */
export async function listDeliveries(db: Db, ref: EndpointRef, beforeSequence: number, limit: number): Promise<Delivery[]> {
  const rows = await db.query(of(listStatements, ref), [ref.tenantId, ref.endpointId, beforeSequence, limit])
  return rows.map(toDelivery)
}

/** An event that is due now, and the attempts so far: in all, and in the current round. */
export interface DueDelivery {
  event: Event
  dueAt: string
  attempts: number
  attemptsInRound: number
}

type DueRow = Omit<EventRow, 'tenant_id'> & { attempts: number; tries: number; next_attempt_at: string }

const dueStatements = forEach((t) =>
  statement<DueRow>(
    `webhooks-due-${t.kind}`,
    `with due as materialized (
       select d.sequence, d.attempts, d.tries, d.next_attempt_at from ${t.deliveries} d
       where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.status = 'pending' and d.next_attempt_at <= now()
         and d.sequence <> all ($3::bigint[])
       order by d.next_attempt_at, d.sequence
       limit $4
     )
     select d.sequence, d.attempts, d.tries, d.next_attempt_at, e.id, e.type, e.data, e.created_at,
       encode(e.hash, 'hex') as hash, encode(e.hash_before, 'hex') as hash_before
     from due d
     join events e on e.tenant_id = $1 and e.sequence = d.sequence
     order by d.next_attempt_at, d.sequence`,
  ),
)

/**
 * The endpoint's due deliveries, without those in progress: fresh events by sequence, with retries between them by
 * their time.
 */
export async function listDue(db: Db, ref: EndpointRef, inProgress: number[], limit: number): Promise<DueDelivery[]> {
  const { tenantId } = ref
  const rows = await db.query(of(dueStatements, ref), [tenantId, ref.endpointId, inProgress, limit])
  return rows.map(({ attempts, tries: attemptsInRound, next_attempt_at: dueAt, ...row }) => {
    const event = toEvent({ ...row, tenant_id: tenantId })
    return { event, dueAt, attempts, attemptsInRound }
  })
}

/** The outcome of an attempt. */
export interface Outcome extends Attempt, EndpointRef {
  sequence: number
  /**
   * The attempts before it. An outcome that is written again, because the answer of the database was lost, finds one more
   * and changes nothing.
   */
  attempts: number
  /**
   * When the delivery was due as the attempt began. If it is due at another time now, somebody has sent it again
   * meanwhile: the attempt is noted, and the delivery stays pending for the new round.
   */
  dueAt: string
  /** undefined: no further attempt. */
  retryInMs: number | undefined
}

/** The attempts that are kept of a delivery: those of two rounds. */
export const keptAttempts = 20

const writeStatements = forEach((t) =>
  statement<{ outcome: 'written' | 'lost' | 'locked' }>(
    `webhooks-write-attempts-${t.kind}`,
    // Each outcome of its own: written; lost, if the writer no longer holds the lease or has written it before; locked, if another transaction
    // holds the endpoint's or the delivery's row, and nothing was done for it. What was sent again since stays due.
    // failing_since changes in the same statement, so that a recorded success ends it even if this process dies.
    `with input as (
       select * from unnest($2::text[], $3::text[], $4::bigint[], $5::boolean[], $6::integer[], $7::text[], $8::float8[], $9::integer[],
         $10::text[], $11::integer[], $12::timestamptz[])
         with ordinality as i (tenant_id, endpoint_id, sequence, succeeded, response_status, error, retry_in_ms, ms, answer, attempts, due_at, ord)
     ), held as (
       select w.tenant_id, ${t.idOf('w')} as endpoint_id from ${t.endpoints} w
       where (w.tenant_id, ${t.idOf('w')}) in (select i.tenant_id, i.endpoint_id from input i) and w.lease_owner = $1
     ), free as materialized (
       select w.tenant_id, ${t.idOf('w')} as endpoint_id, w.failing_since from ${t.endpoints} w
       where (w.tenant_id, ${t.idOf('w')}) in (select i.tenant_id, i.endpoint_id from input i) and w.lease_owner = $1
       order by w.tenant_id, endpoint_id
       for no key update skip locked
     ), rows as materialized (
       select d.slot, d.tenant_id, ${t.idOf('d')} as endpoint_id, d.sequence from ${t.deliveries} d
       where (d.tenant_id, ${t.idOf('d')}, d.sequence, d.attempts) in
         (select i.tenant_id, i.endpoint_id, i.sequence, i.attempts from input i join free f on f.tenant_id = i.tenant_id and f.endpoint_id = i.endpoint_id)
       for no key update skip locked
     ), written as (
       update ${t.deliveries} d
       set status = case when d.next_attempt_at <> i.due_at then d.status when i.succeeded then 'succeeded' when i.retry_in_ms is null then 'failed'
           else 'pending' end,
         tries = case when d.next_attempt_at <> i.due_at then d.tries else d.tries + 1 end,
         next_attempt_at = case when d.next_attempt_at <> i.due_at then d.next_attempt_at
           when not i.succeeded then now() + make_interval(secs => i.retry_in_ms / 1000) end,
         attempts = d.attempts + 1, response_status = i.response_status, error = i.error, last_attempt_at = now(),
         attempt_log = case when jsonb_array_length(d.attempt_log) >= ${keptAttempts} then d.attempt_log - 0 else coalesce(d.attempt_log, '[]') end
           || jsonb_build_object('at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'status', i.response_status,
             'ms', i.ms, 'answer', i.answer, 'error', i.error)
       from input i
       join rows r on r.tenant_id = i.tenant_id and r.endpoint_id = i.endpoint_id and r.sequence = i.sequence
       where d.slot = r.slot and d.tenant_id = r.tenant_id and ${t.idOf('d')} = r.endpoint_id and d.sequence = r.sequence
       returning i.ord, i.tenant_id, i.endpoint_id, i.succeeded
     ), marked as (
       update ${t.endpoints} w
       set failing_since = case when n.any_succeeded then null else now() end
       from (select o.tenant_id, o.endpoint_id, bool_or(o.succeeded) as any_succeeded from written o group by o.tenant_id, o.endpoint_id) n
       join free f on f.tenant_id = n.tenant_id and f.endpoint_id = n.endpoint_id
       where w.tenant_id = n.tenant_id and ${t.idOf('w')} = n.endpoint_id and n.any_succeeded = (f.failing_since is not null)
     )
     select case
         when o.ord is not null then 'written'
         when h.tenant_id is null then 'lost'
         when f.tenant_id is null then 'locked'
         when exists (select from ${t.deliveries} d
           where d.tenant_id = i.tenant_id and ${t.idOf('d')} = i.endpoint_id and d.sequence = i.sequence
             and d.attempts = i.attempts) then 'locked'
         else 'lost'
       end as outcome
     from input i
     left join held h on h.tenant_id = i.tenant_id and h.endpoint_id = i.endpoint_id
     left join free f on f.tenant_id = i.tenant_id and f.endpoint_id = i.endpoint_id
     left join written o on o.ord = i.ord
     order by i.ord`,
    { writes: true, tries: 'one' },
  ),
)

export async function writeOutcomes(db: Db, owner: string, outcomes: Outcome[]): Promise<(void | Locked)[]> {
  const [first] = outcomes
  if (!first) return []
  const rows = await db.query(of(writeStatements, first), [
    owner,
    ...pairsOf(outcomes),
    outcomes.map(({ sequence }) => sequence),
    outcomes.map(({ succeeded }) => succeeded),
    outcomes.map(({ responseStatus }) => responseStatus),
    outcomes.map(({ error }) => error),
    outcomes.map(({ retryInMs }) => retryInMs ?? null),
    outcomes.map(({ ms }) => ms),
    outcomes.map(({ answer }) => answer),
    outcomes.map(({ attempts }) => attempts),
    outcomes.map(({ dueAt }) => dueAt),
  ])
  return outcomes.map((outcome, i) => (rows[i]?.outcome === 'locked' ? new Locked(keyOf(outcome)) : undefined))
}

const deleteStatements = forEach((t) =>
  statement<never>(
    `webhooks-delete-deliveries-${t.kind}`,
    `delete from ${t.deliveries}
     where (tenant_id, sequence) in (select * from unnest($1::text[], $2::bigint[])) and status = 'pending'`,
  ),
)

const deleteSpreadStatements = forEach((t) =>
  statement<never>(
    `webhooks-delete-spread-deliveries-${t.kind}`,
    `delete from ${t.deliveries} where tenant_id = $1 and sequence = any ($2::bigint[]) and status = 'pending'`,
  ),
)

async function deletePending(tx: Tx, events: EventKey[], isSpread: boolean): Promise<void> {
  if (!isSpread) {
    const keys = [events.map(({ tenantId }) => tenantId), events.map(({ sequence }) => sequence)]
    for (const one of Object.values(deleteStatements)) await tx.query(one, keys)
    return
  }
  for (const [tenantId, some] of Map.groupBy(events, (event) => event.tenantId))
    for (const one of Object.values(deleteSpreadStatements)) await tx.query(one, [tenantId, some.map(({ sequence }) => sequence)])
}

/**
 * Deletes up to `limit` events that are too old; returns how many. A pending delivery of one goes with it, because a
 * worker would find it due again and again. The others are no longer listed, and are removed with their partition.
 */
export async function forgetOldEvents(
  db: Database,
  limit: number,
  keptDays = 30,
  { isSpread } = { isSpread: false },
): Promise<number> {
  if (!(await hasOldEvents(db, keptDays))) return 0
  return db.transaction(async (tx) => {
    const deleted = await (isSpread ? deleteOldSpreadEvents : deleteOldEvents)(tx, keptDays, limit)
    if (deleted.length > 0) await deletePending(tx, deleted, isSpread)
    return deleted.length
  })
}
