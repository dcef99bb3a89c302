import { defaultEndpoint } from '@atrium/contract/tokens'
import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db, type Statement, type Tx } from '#db/database.ts'
import { type EndpointRef, isDefault, keyOf, type SealedSecret, type Webhook } from './webhook.ts'

/**
 * The tables of a kind of endpoints. The endpoint `default` of each tenant is in the tables that the previous release
 * knows; all others are in tables of the same shape. docs/decisions/0048 has the reasons.
 */
export interface EndpointTables {
  kind: 'default' | 'further'
  endpoints: string
  secrets: string
  deliveries: string
  /** The endpoint's id in a row of these tables, in SQL. */
  idOf: (row: string) => string
}

const tables = {
  default: {
    kind: 'default',
    endpoints: 'webhooks',
    secrets: 'webhook_secrets',
    deliveries: 'webhook_deliveries',
    idOf: () => `'${defaultEndpoint}'`,
  },
  further: {
    kind: 'further',
    endpoints: 'webhook_endpoints',
    secrets: 'webhook_endpoint_secrets',
    deliveries: 'webhook_endpoint_deliveries',
    idOf: (row) => `${row}.endpoint_id`,
  },
} satisfies Record<string, EndpointTables>

/** A statement of one text for each kind of endpoints. */
export type ForEach<Row> = Record<EndpointTables['kind'], Statement<Row>>

export function forEach<Row>(make: (t: EndpointTables) => Statement<Row>): ForEach<Row> {
  return { default: make(tables.default), further: make(tables.further) }
}

/** The statement for the endpoint's tables. */
export function of<Row>(statements: ForEach<Row>, ref: EndpointRef): Statement<Row> {
  return isDefault(ref) ? statements.default : statements.further
}

/** The rows of the refs of both kinds, each by the statement of its tables. */
export async function queryEach<Row>(
  db: Db,
  statements: ForEach<Row>,
  refs: EndpointRef[],
  valuesOf: (refs: EndpointRef[]) => unknown[],
): Promise<Row[]> {
  const { default: first = [], further = [] } = Object.groupBy(refs, (ref) => (isDefault(ref) ? 'default' : 'further'))
  return [
    ...(first.length > 0 ? await db.query(statements.default, valuesOf(first)) : []),
    ...(further.length > 0 ? await db.query(statements.further, valuesOf(further)) : []),
  ]
}

interface Row {
  tenant_id: string
  endpoint_id: string
  url: string
  events: EventType[] | null
  enabled: boolean
  description: string | null
}

const columnsOf = ({ idOf }: EndpointTables) =>
  `w.tenant_id, ${idOf('w')} as endpoint_id, w.url, w.events, w.enabled, w.description`

function toWebhook({ tenant_id: tenantId, endpoint_id: endpointId, ...same }: Row): Webhook {
  return { tenantId, endpointId, ...same }
}

const valuesOf = ({ tenantId, endpointId, url, events, enabled, description }: Webhook) => [
  tenantId,
  endpointId,
  url,
  events,
  enabled,
  description,
]

const insertStatements = forEach((t) =>
  statement<{ tenant_id: string }>(
    `webhooks-insert-${t.kind}`,
    // Of two concurrent first calls, the second waits here and then updates the row of the first.
    `insert into ${t.endpoints} (tenant_id, ${t.kind === 'further' ? 'endpoint_id, ' : ''}url, events, enabled, description)
     select $1::text, ${t.kind === 'further' ? '$2::text, ' : ''}$3::text, $4::text[], $5::boolean, $6::text where $2::text is not null
     on conflict do nothing returning tenant_id`,
  ),
)

/** Whether the tenant had no such endpoint before. */
export async function insertWebhook(tx: Tx, webhook: Webhook): Promise<boolean> {
  return (await tx.query(of(insertStatements, webhook), valuesOf(webhook))).length === 1
}

const updateStatements = forEach((t) =>
  statement<never>(
    `webhooks-update-${t.kind}`,
    // Resets the state of the old endpoint and revokes the lease of the worker that sends to it.
    `update ${t.endpoints} w
     set url = $3, events = $4, enabled = $5, description = $6,
       failures = 0, failing_since = null, resume_at = null, lease_owner = null, lease_until = null
     where w.tenant_id = $1 and ${t.idOf('w')} = $2`,
  ),
)

export async function updateWebhook(tx: Tx, webhook: Webhook): Promise<void> {
  await tx.query(of(updateStatements, webhook), valuesOf(webhook))
}

const findTexts = forEach<Row>((t) =>
  statement<Row>(
    `webhooks-find-${t.kind}`,
    `select ${columnsOf(t)} from ${t.endpoints} w where w.tenant_id = $1 and ${t.idOf('w')} = $2`,
  ),
)

export async function findWebhook(db: Db, ref: EndpointRef): Promise<Webhook | undefined> {
  const [row] = await db.query(of(findTexts, ref), [ref.tenantId, ref.endpointId])
  return row && toWebhook(row)
}

const lockStatements = forEach<Row>((t) =>
  statement<Row>(
    `webhooks-lock-${t.kind}`,
    `select ${columnsOf(t)} from ${t.endpoints} w where w.tenant_id = $1 and ${t.idOf('w')} = $2 for no key update`,
  ),
)

export async function findWebhookForUpdate(tx: Tx, ref: EndpointRef): Promise<Webhook | undefined> {
  const [row] = await tx.query(of(lockStatements, ref), [ref.tenantId, ref.endpointId])
  return row && toWebhook(row)
}

const listStatements = forEach<Row>((t) =>
  statement<Row>(
    `webhooks-list-${t.kind}`,
    `select ${columnsOf(t)} from ${t.endpoints} w where w.tenant_id = $1 order by w.created_at, endpoint_id`,
  ),
)

/** All of a tenant; `default` first, then the oldest first. */
export async function listWebhooks(db: Db, tenantId: string): Promise<Webhook[]> {
  const rows = [...(await db.query(listStatements.default, [tenantId])), ...(await db.query(listStatements.further, [tenantId]))]
  return rows.map(toWebhook)
}

const lockTenantStatement = statement<never>('webhooks-lock-tenant', 'select from tenants where id = $1 for no key update')

/** Until the transaction ends, nobody else adds an endpoint to the tenant. */
export async function lockEndpoints(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(lockTenantStatement, [tenantId])
}

const deletePendingStatements = forEach((t) =>
  statement<never>(
    `webhooks-delete-pending-${t.kind}`,
    `delete from ${t.deliveries} d where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.status = 'pending'`,
  ),
)
const deleteSecretsStatements = forEach((t) =>
  statement<never>(
    `webhooks-delete-secrets-${t.kind}`,
    `delete from ${t.secrets} s where s.tenant_id = $1 and ${t.idOf('s')} = $2`,
  ),
)
const deleteStatements = forEach((t) =>
  statement<never>(`webhooks-delete-${t.kind}`, `delete from ${t.endpoints} w where w.tenant_id = $1 and ${t.idOf('w')} = $2`),
)

/**
 * Deletes an endpoint whose row the caller has locked, and what is queued for it. Its other deliveries are no longer
 * listed, and are removed with their partition.
 */
export async function deleteWebhook(tx: Tx, ref: EndpointRef): Promise<void> {
  const values = [ref.tenantId, ref.endpointId]
  for (const step of [deletePendingStatements, deleteSecretsStatements, deleteStatements]) await tx.query(of(step, ref), values)
}

const retireStatements = forEach((t) => {
  const secrets = `${t.secrets} s where s.tenant_id = $1 and ${t.idOf('s')} = $2`
  return statement<never>(
    `webhooks-retire-secret-${t.kind}`,
    // The newest four secrets sign for the last time: the answer with a new secret may have been lost, so that the
    // receiver still has an older one.
    `with over as (
       delete from ${secrets} and s.id not in
         (select s.id from ${secrets} and (s.signs_until is null or s.signs_until > now()) order by s.created_at desc limit 4)
     )
     update ${t.secrets} s set signs_until = now() + interval '24 hours'
     where s.tenant_id = $1 and ${t.idOf('s')} = $2 and s.signs_until is null`,
  )
})

/** Lets the current secret sign for 24 more hours, beside its successor. */
export async function retireSecret(tx: Tx, ref: EndpointRef): Promise<void> {
  await tx.query(of(retireStatements, ref), [ref.tenantId, ref.endpointId])
}

const insertSecretStatements = forEach((t) =>
  statement<never>(
    `webhooks-insert-secret-${t.kind}`,
    `insert into ${t.secrets} (tenant_id, ${t.kind === 'further' ? 'endpoint_id, ' : ''}id, sealed, created_at)
     select $1::text, ${t.kind === 'further' ? '$2::text, ' : ''}$3::text, $4::bytea, clock_timestamp() where $2::text is not null`,
  ),
)

export async function insertSecret(tx: Tx, ref: EndpointRef, { id, sealed }: SealedSecret): Promise<void> {
  await tx.query(of(insertSecretStatements, ref), [ref.tenantId, ref.endpointId, id, sealed])
}

const secretsStatements = forEach((t) =>
  statement<{ tenant_id: string; endpoint_id: string; id: string; sealed: Buffer }>(
    `webhooks-secrets-${t.kind}`,
    `select s.tenant_id, ${t.idOf('s')} as endpoint_id, s.id, s.sealed from ${t.secrets} s
     where (s.tenant_id, ${t.idOf('s')}) in (select * from unnest($1::text[], $2::text[]))
       and (s.signs_until is null or s.signs_until > now())
     order by s.created_at desc`,
  ),
)

export const pairsOf = (refs: EndpointRef[]) => [refs.map(({ tenantId }) => tenantId), refs.map(({ endpointId }) => endpointId)]

/** The secrets that sign for these endpoints now, by `keyOf` the endpoint; the newest first. */
export async function listSecrets(db: Db, refs: EndpointRef[]): Promise<Map<string, SealedSecret[]>> {
  const rows = await queryEach(db, secretsStatements, refs, pairsOf)
  return Map.groupBy(rows, (row) => keyOf({ tenantId: row.tenant_id, endpointId: row.endpoint_id }))
}
