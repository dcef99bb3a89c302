import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db, type Tx } from '#db/database.ts'
import type { Delivery, Webhook } from './webhook.ts'
import type { SealedSecret } from './webhook-secret.ts'

interface Row {
  tenant_id: string
  url: string
  events: EventType[] | null
  enabled: boolean
}

const columns = 'tenant_id, url, events, enabled'

function toWebhook({ tenant_id: tenantId, ...same }: Row): Webhook {
  return { tenantId, ...same }
}

const insertStatement = statement<Row>(
  'webhooks-insert',
  // Two that set the first one at once: the second one waits here, and then changes what the first one has made.
  `insert into webhooks (${columns}) values ($1, $2, $3, $4) on conflict do nothing returning ${columns}`,
)

/** Whether it was the first one. */
export async function insertWebhook(tx: Tx, { tenantId, url, events, enabled }: Webhook): Promise<boolean> {
  return (await tx.query(insertStatement, [tenantId, url, events, enabled])).length === 1
}

const updateStatement = statement<never>(
  'webhooks-update',
  // It begins anew: whatever was known of the old endpoint counts no more, and whoever sends to it lost the lease.
  `update webhooks
   set url = $2, events = $3, enabled = $4, failures = 0, failing_since = null, resume_at = null, lease_owner = null, lease_until = null
   where tenant_id = $1`,
)

export async function updateWebhook(tx: Tx, { tenantId, url, events, enabled }: Webhook): Promise<void> {
  await tx.query(updateStatement, [tenantId, url, events, enabled])
}

const findStatement = statement<Row>('webhooks-find', `select ${columns} from webhooks where tenant_id = $1`)

export async function findWebhook(db: Db, tenantId: string): Promise<Webhook | undefined> {
  const [row] = await db.query(findStatement, [tenantId])
  return row && toWebhook(row)
}

const retireStatement = statement<never>(
  'webhooks-retire-secret',
  // The newest few old ones go on signing: also a secret whose answer was lost, and with it the one before, which the receiver still has.
  `with over as (
     delete from webhook_secrets
     where tenant_id = $1 and id not in
       (select id from webhook_secrets where tenant_id = $1 and (signs_until is null or signs_until > now())
        order by created_at desc limit 4)
   )
   update webhook_secrets set signs_until = now() + interval '24 hours' where tenant_id = $1 and signs_until is null`,
)

/** Lets the current secret sign for 24 hours more, beside the one that follows it. */
export async function retireSecret(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(retireStatement, [tenantId])
}

const insertSecretStatement = statement<never>(
  'webhooks-insert-secret',
  `insert into webhook_secrets (tenant_id, id, sealed, created_at) values ($1, $2, $3, clock_timestamp())`,
)

export async function insertSecret(tx: Tx, tenantId: string, { id, sealed }: SealedSecret): Promise<void> {
  await tx.query(insertSecretStatement, [tenantId, id, sealed])
}

const secretsStatement = statement<{ tenant_id: string; id: string; sealed: Buffer }>(
  'webhooks-secrets',
  `select tenant_id, id, sealed from webhook_secrets
   where tenant_id = any($1) and (signs_until is null or signs_until > now())
   order by created_at desc`,
)

/** The secrets that sign for these tenants now, by tenant, the newest first. */
export async function listSecrets(db: Db, tenantIds: string[]): Promise<Map<string, SealedSecret[]>> {
  return Map.groupBy(await db.query(secretsStatement, [tenantIds]), (row) => row.tenant_id)
}

interface DeliveryRow {
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

const deliveryColumns = `d.id, e.type, d.sequence, d.status, d.attempts, d.response_status, d.error, d.created_at, d.last_attempt_at,
  d.next_attempt_at`

function toDelivery(row: DeliveryRow): Delivery {
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

const listStatement = statement<DeliveryRow>(
  'webhooks-deliveries',
  `select ${deliveryColumns}
   from webhook_deliveries d
   join events e on e.tenant_id = d.tenant_id and e.sequence = d.sequence
   where d.tenant_id = $1 and d.sequence < $2
   order by d.sequence desc
   limit $3`,
)

/** The newest first, beginning before the given sequence. */
export async function listDeliveries(db: Db, tenantId: string, beforeSequence: number, limit: number): Promise<Delivery[]> {
  return (await db.query(listStatement, [tenantId, beforeSequence, limit])).map(toDelivery)
}

const resendStatement = statement<DeliveryRow>(
  'webhooks-resend',
  `with queued as (
     update webhook_deliveries set status = 'pending', tries = 0, next_attempt_at = now()
     where tenant_id = $1 and id = $2
     returning *
   )
   select ${deliveryColumns}
   from queued d
   join events e on e.tenant_id = d.tenant_id and e.sequence = d.sequence`,
)

/** Queues it anew; undefined: there is none. */
export async function queueAgain(tx: Tx, tenantId: string, id: string): Promise<Delivery | undefined> {
  const [row] = await tx.query(resendStatement, [tenantId, id])
  return row && toDelivery(row)
}

const deleteStatement = statement<never>(
  'webhooks-delete-deliveries',
  'delete from webhook_deliveries where (tenant_id, sequence) in (select * from unnest($1::text[], $2::bigint[]))',
)

export async function deleteDeliveries(tx: Tx, events: { tenantId: string; sequence: number }[]): Promise<void> {
  await tx.query(deleteStatement, [events.map(({ tenantId }) => tenantId), events.map(({ sequence }) => sequence)])
}
