import type { EventType } from '@atrium/contract/event-types'
import { statement, type Tx } from '#db/database.ts'
import { listSequencesSince } from '../events/store.ts'
import { columnsOf, type DeliveryRow, toDelivery } from './delivery-store.ts'
import { findWebhookForUpdate, forEach, of } from './store.ts'
import type { Delivery, EndpointRef } from './webhook.ts'

// Where events are spread over the nodes of a Citus cluster, deliveries are on the coordinator, and no statement that
// changes a delivery can read its event. So events are read first.
//
// The endpoint is locked before its deliveries, as by whoever deletes it, so that the two cannot deadlock. The worker that
// writes outcomes waits for no row: it tries again after this, and then sees what was sent again.

const findStatements = forEach((t) =>
  statement<{ slot: number; sequence: number; type: EventType }>(
    `webhooks-find-delivery-${t.kind}`,
    `with found as materialized (
       select d.slot, d.sequence from ${t.deliveries} d where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.id = $3
     )
     select d.slot, d.sequence, e.type from found d join events e on e.tenant_id = $1 and e.sequence = d.sequence`,
  ),
)

const resendStatements = forEach((t) =>
  statement<DeliveryRow>(
    `webhooks-resend-${t.kind}`,
    `with e as (select $5::text as type), d as (
       update ${t.deliveries} d set status = 'pending', tries = 0, next_attempt_at = now()
       where d.slot = $3 and d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.sequence = $4
       returning d.*
     )
     select ${columnsOf(t)} from d cross join e`,
  ),
)

/** Queues the delivery for a new round of attempts; undefined: there is none. The caller has locked the endpoint. */
export async function queueAgain(tx: Tx, ref: EndpointRef, id: string): Promise<Delivery | undefined> {
  const { tenantId, endpointId } = ref
  const [found] = await tx.query(of(findStatements, ref), [tenantId, endpointId, id])
  if (!found) return undefined
  const { slot, sequence, type } = found
  const [row] = await tx.query(of(resendStatements, ref), [tenantId, endpointId, slot, sequence, type])
  return row && toDelivery(row)
}

/**
 * With the parameter, also those that wait after a failure: for their next attempt, or for the end of the endpoint's
 * pause. What was queued again has no tries, and is not counted twice.
 */
const isFailed = (withPending: string) =>
  `(d.status = 'failed' or ${withPending}::boolean and d.status = 'pending' and d.tries > 0)`

const failedStatements = forEach((t) =>
  statement<{ sequence: number }>(
    `webhooks-failed-${t.kind}`,
    `select d.sequence from ${t.deliveries} d
     where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.sequence > $3 and ${isFailed('$5')}
     order by d.sequence limit $4`,
  ),
)

const recoverStatements = forEach((t) =>
  statement<{ sequence: number }>(
    `webhooks-recover-${t.kind}`,
    `with next as (
       select d.slot, d.sequence from ${t.deliveries} d
       where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.sequence = any ($3) and ${isFailed('$4')}
       order by d.sequence
       for no key update of d
     )
     update ${t.deliveries} d set status = 'pending', tries = 0, next_attempt_at = now()
     from next n
     where d.slot = n.slot and d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.sequence = n.sequence
     returning d.sequence`,
  ),
)

const resumeStatements = forEach((t) =>
  statement<never>(
    `webhooks-resume-${t.kind}`,
    // A time in the past, also after rounding, that differs from the one that the worker read: so the worker sets no pause
    // when it releases the endpoint.
    `update ${t.endpoints} w set resume_at = now() - interval '1 millisecond'
     where w.tenant_id = $1 and ${t.idOf('w')} = $2 and (w.resume_at > now() or w.lease_owner is not null)`,
  ),
)

/**
 * Ends the pause of an endpoint after failures: somebody who sends again has mended it. The attempts that are under way
 * began before that, so the worker that makes them sets no pause either. The caller has locked the endpoint.
 */
export async function endPause(tx: Tx, ref: EndpointRef): Promise<void> {
  await tx.query(of(resumeStatements, ref), [ref.tenantId, ref.endpointId])
}

interface Recovered {
  queued: number
  /** The sequence to go on after; undefined: those were the last. */
  next: number | undefined
}

/**
 * Looks at up to `limit` failed deliveries after the given sequence, and queues those of events since that time again.
 * With `pending`, also those that wait for their next attempt. If it queues some, it has locked the endpoint.
 */
export async function recoverFailed(
  tx: Tx,
  ref: EndpointRef,
  { after, since, pending, limit }: { after: number; since: string; pending: boolean; limit: number },
): Promise<Recovered> {
  const { tenantId, endpointId } = ref
  const failed = (await tx.query(of(failedStatements, ref), [tenantId, endpointId, after, limit, pending])).map(
    ({ sequence }) => sequence,
  )
  const chosen = await listSequencesSince(tx, tenantId, failed, since)
  const next = failed.length === limit ? failed.at(-1) : undefined
  if (chosen.length === 0) return { queued: 0, next }
  await findWebhookForUpdate(tx, ref)
  const queued = await tx.query(of(recoverStatements, ref), [tenantId, endpointId, chosen, pending])
  return { queued: queued.length, next }
}
