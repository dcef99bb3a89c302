import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db, type Tx } from '#db/database.ts'
import type { SealedSecret, Webhook } from './webhook.ts'

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
  // Of two concurrent first calls, the second waits here and then updates the row of the first.
  `insert into webhooks (${columns}) values ($1, $2, $3, $4) on conflict do nothing returning ${columns}`,
)

/** Whether the tenant had no webhook before. */
export async function insertWebhook(tx: Tx, { tenantId, url, events, enabled }: Webhook): Promise<boolean> {
  return (await tx.query(insertStatement, [tenantId, url, events, enabled])).length === 1
}

const updateStatement = statement<never>(
  'webhooks-update',
  // Resets the state of the old endpoint and revokes the lease of the worker that sends to it.
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
  // The newest four secrets sign for the last time: the answer with a new secret may have been lost, so that the
  // receiver still has an older one.
  `with over as (
     delete from webhook_secrets
     where tenant_id = $1 and id not in
       (select id from webhook_secrets where tenant_id = $1 and (signs_until is null or signs_until > now())
        order by created_at desc limit 4)
   )
   update webhook_secrets set signs_until = now() + interval '24 hours' where tenant_id = $1 and signs_until is null`,
)

/** Lets the current secret sign for 24 more hours, beside its successor. */
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

/** The secrets that sign for these tenants now, by tenant; the newest first. */
export async function listSecrets(db: Db, tenantIds: string[]): Promise<Map<string, SealedSecret[]>> {
  return Map.groupBy(await db.query(secretsStatement, [tenantIds]), (row) => row.tenant_id)
}
