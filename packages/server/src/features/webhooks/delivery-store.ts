import { Batcher, Locked } from '@atrium/traffic/batcher'
import type { EventType } from '@atrium/contract/event-types'
import { statement, type Database, type Db, type Tx } from '#db/database.ts'
import type { Event } from '../events/event.ts'
import { deleteOldEvents, hasOldEvents } from '../events/store.ts'
import type { Attempt } from './send-event.ts'
import type { Delivery } from './webhook.ts'

// These statements join the event log, which belongs to the events feature: a delivery is a row of keys, and its event
// is read in the same round trip, up to 64 events at a time for each endpoint.

interface Row {
  id: string
  type: EventType
  sequence: number
  status: Delivery['status']
  attempts: number
  response_status: number | null
  error: string | null
  created_at: string
  last_attempt_at: string | null
  next_attempt_at: string | null
}

const columns = `d.id, e.type, d.sequence, d.status, d.attempts, d.response_status, d.error, d.created_at, d.last_attempt_at,
  d.next_attempt_at`

function toDelivery(row: Row): Delivery {
  return {
    id: row.id,
    type: row.type,
    sequence: row.sequence,
    status: row.status,
    attempts: row.attempts,
    responseStatus: row.response_status,
    error: row.error,
    createdAt: row.created_at,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
  }
}

const listStatement = statement<Row>(
  'webhooks-deliveries',
  `select ${columns}
   from webhook_deliveries d
   join events e on e.tenant_id = d.tenant_id and e.sequence = d.sequence
   where d.tenant_id = $1 and d.sequence < $2
   order by d.sequence desc
   limit $3`,
)

/** The newest first, starting before the given sequence. */
export async function listDeliveries(db: Db, tenantId: string, beforeSequence: number, limit: number): Promise<Delivery[]> {
  return (await db.query(listStatement, [tenantId, beforeSequence, limit])).map(toDelivery)
}

const resendStatement = statement<Row>(
  'webhooks-resend',
  `with queued as (
     update webhook_deliveries set status = 'pending', tries = 0, next_attempt_at = now()
     where tenant_id = $1 and id = $2
     returning *
   )
   select ${columns}
   from queued d
   join events e on e.tenant_id = d.tenant_id and e.sequence = d.sequence`,
)

/** Queues the delivery for a new round of attempts; undefined: there is none. */
export async function queueAgain(tx: Tx, tenantId: string, id: string): Promise<Delivery | undefined> {
  const [row] = await tx.query(resendStatement, [tenantId, id])
  return row && toDelivery(row)
}

/** An event that is due now, and the attempts of the current round so far. */
export interface DueDelivery {
  event: Event
  attemptsInRound: number
}

interface DueRow {
  sequence: number
  tries: number
  id: string
  type: EventType
  data: Record<string, unknown>
  created_at: string
}

const dueStatement = statement<DueRow>(
  'webhooks-due',
  `with due as materialized (
     select sequence, tries, next_attempt_at from webhook_deliveries
     where tenant_id = $1 and status = 'pending' and next_attempt_at <= now() and sequence <> all ($2::bigint[])
     order by next_attempt_at, sequence
     limit $3
   )
   select d.sequence, d.tries, e.id, e.type, e.data, e.created_at
   from due d
   join events e on e.tenant_id = $1 and e.sequence = d.sequence
   order by d.next_attempt_at, d.sequence`,
)

/**
 * The tenant's due deliveries, without those in progress: fresh events by sequence, with retries between them by their
 * time.
 */
export async function listDue(db: Db, tenantId: string, inProgress: number[], limit: number): Promise<DueDelivery[]> {
  const rows = await db.query(dueStatement, [tenantId, inProgress, limit])
  return rows.map(({ tries: attemptsInRound, created_at: createdAt, ...event }) => ({
    attemptsInRound,
    event: { ...event, tenantId, createdAt },
  }))
}

/** The outcome of an attempt. */
export interface Outcome extends Attempt {
  tenantId: string
  sequence: number
  /** undefined: no further attempt. */
  retryInMs: number | undefined
}

/** Writes the outcomes of attempts. Those that arrive while a batch is written share the next batch. */
export type OutcomeWriter = Batcher<Outcome, void>

export function openOutcomeWriter(db: Db, owner: string): OutcomeWriter {
  return new Batcher({
    maxSize: 256,
    concurrency: 1,
    keysOf: ({ tenantId }) => [tenantId],
    run: (outcomes) => writeOutcomes(db, owner, outcomes),
  })
}

/** try-write-outcomes.sql explains the function. */
const writeStatement = statement<{ outcome: 'written' | 'lost' | 'locked' }>(
  'webhooks-write-outcomes',
  'select outcome from try_write_outcomes($1, $2, $3, $4, $5, $6, $7)',
  { writes: true, tries: 'one' },
)

async function writeOutcomes(db: Db, owner: string, outcomes: Outcome[]): Promise<(void | Locked)[]> {
  const rows = await db.query(writeStatement, [
    owner,
    outcomes.map(({ tenantId }) => tenantId),
    outcomes.map(({ sequence }) => sequence),
    outcomes.map(({ succeeded }) => succeeded),
    outcomes.map(({ responseStatus }) => responseStatus),
    outcomes.map(({ error }) => error),
    outcomes.map(({ retryInMs }) => retryInMs ?? null),
  ])
  return outcomes.map(({ tenantId }, i) => (rows[i]?.outcome === 'locked' ? new Locked(tenantId) : undefined))
}

const deleteStatement = statement<never>(
  'webhooks-delete-deliveries',
  'delete from webhook_deliveries where (tenant_id, sequence) in (select * from unnest($1::text[], $2::bigint[]))',
)

/** Deletes up to `limit` events that are too old, together with their deliveries; returns how many. */
export async function forgetOldEvents(db: Database, limit: number, keptDays = 30): Promise<number> {
  if (!(await hasOldEvents(db, keptDays))) return 0
  return db.transaction(async (tx) => {
    const deleted = await deleteOldEvents(tx, keptDays, limit)
    const keys = [deleted.map(({ tenantId }) => tenantId), deleted.map(({ sequence }) => sequence)]
    if (deleted.length > 0) await tx.query(deleteStatement, keys)
    return deleted.length
  })
}
