import { statement, type Db, type Tx } from '#db/database.ts'
import { listShown } from '../events/outbox-store.ts'
import { forEach, of } from './store.ts'
import type { EndpointRef } from './webhook.ts'

// Where deliveries are spread over the nodes of a Citus cluster, webhook_queues on the coordinator has the endpoints that
// may have pending ones, and when they are due. Whoever makes a delivery due marks its endpoint. A worker that finds none
// pending takes the mark away, unless it may have overlooked one. docs/decisions/0059 has the reasons.

const resentStatement = statement<never>(
  'webhooks-mark-resent',
  `insert into webhook_queues as q (tenant_id, endpoint_id, due_at, resends) values ($1, $2, now(), 1)
   on conflict on constraint webhook_queues_pkey do update set due_at = least(q.due_at, excluded.due_at), resends = q.resends + 1`,
)

/**
 * Marks an endpoint whose deliveries the transaction has made due. Citus commits on the node of the deliveries first, so
 * whoever sees the mark sees them too.
 */
export async function markResent(tx: Tx, { tenantId, endpointId }: EndpointRef): Promise<void> {
  await tx.query(resentStatement, [tenantId, endpointId])
}

const removeStatement = statement<never>(
  'webhooks-queue-remove',
  'delete from webhook_queues where tenant_id = $1 and endpoint_id = $2',
)

export async function removeQueue(tx: Tx, { tenantId, endpointId }: EndpointRef): Promise<void> {
  await tx.query(removeStatement, [tenantId, endpointId])
}

interface QueueState {
  resends: number
  last_sequence: number
  /** Whether events of the tenant got numbers within the last 12 hours. */
  numbered_lately: boolean
}

const stateStatement = statement<QueueState>(
  'webhooks-queue-state',
  `select q.resends, h.last_sequence, coalesce(h.numbered_at > now() - interval '12 hours', false) as numbered_lately
   from webhook_queues q join event_heads h on h.tenant_id = q.tenant_id
   where q.tenant_id = $1 and q.endpoint_id = $2`,
)

const nextStatements = forEach((t) =>
  statement<{ next_attempt_at: string; is_due: boolean }>(
    `webhooks-next-${t.kind}`,
    `select d.next_attempt_at, d.next_attempt_at <= now() as is_due from ${t.deliveries} d
     where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.status = 'pending' order by d.next_attempt_at limit 1`,
  ),
)

const settleStatement = statement<never>(
  'webhooks-queue-settle',
  // Nobody numbers events of the tenant until this has committed. Whoever did since the state was read has moved the head,
  // and whoever sent again has counted it.
  `with head as (
     select h.tenant_id from event_heads h where h.tenant_id = $1 and h.last_sequence = $4 for share skip locked
   )
   update webhook_queues q set due_at = $5
   where q.tenant_id = $1 and q.endpoint_id = $2 and q.resends = $3 and exists (select from head)`,
)

/**
 * Called by the holder of the endpoint's lease who has found no delivery due: sets when it has to be looked at next.
 * due: there is one after all. hidden: what was queued last is not visible yet. The mark then stays, as it does if
 * deliveries were queued meanwhile.
 */
export async function settleQueue(db: Db, ref: EndpointRef): Promise<'settled' | 'due' | 'hidden'> {
  const { tenantId, endpointId } = ref
  const [state] = await db.query(stateStatement, [tenantId, endpointId])
  if (!state) return 'settled'
  // The deliveries of an event are visible when the event is: both are on one node.
  const isShown = !state.numbered_lately || (await listShown(db, new Map([[tenantId, state.last_sequence]]))).has(tenantId)
  if (!isShown) return 'hidden'
  const [next] = await db.query(of(nextStatements, ref), [tenantId, endpointId])
  if (next?.is_due) return 'due'
  await db.query(settleStatement, [tenantId, endpointId, state.resends, state.last_sequence, next?.next_attempt_at ?? null])
  return 'settled'
}
