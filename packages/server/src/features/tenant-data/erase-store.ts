import { namesOf } from '@atrium/contract/names-of'
import { statement, type Statement, type Tx } from '#db/database.ts'
import { tenantTables, type TenantTableName } from './tenant-tables.ts'

/**
 * The rows of one transaction. A batch of the widest rows takes about 100 ms, and locks only rows of a tenant that
 * is suspended.
 */
const batchRows = 1_000

interface Step {
  name: string
  statement: Statement<{ rows: number }>
}

const step = (name: string, text: string): Step => ({
  name,
  statement: statement<{ rows: number }>(
    `tenant-erase-${name}`,
    `with gone as (${text} returning 1) select count(*)::int as rows from gone`,
  ),
})

/**
 * Arrays instead of joins: without statistics of rows that just arrived, a join compares each row of the table with
 * each row of the batch. For a distributed table the outer condition tells Citus that one shard is enough, where a
 * ctid names one row.
 */
const removal = (table: string, where = 'tenant_id = $1', key = 'ctid') =>
  step(
    table,
    `delete from ${table} where ${where} and ${key} = any (array(select ${key} from ${table} where ${where} limit ${batchRows}))`,
  )

/** For a table with partitions, where a ctid names one row of each: `key` is unique in the whole table. */
const keyedRemoval = (table: string, key: string) =>
  step(
    table,
    `delete from ${table} where tenant_id = $1 and (${key}) in (select ${key} from ${table} where tenant_id = $1 limit ${batchRows})`,
  )

const unreferencedVersion = `tenant_id = $1 and not exists (select from sessions s
  where s.agent_tenant_id = v.tenant_id and s.agent_id = v.agent_id and s.agent_version = v.version)`
const unreferencedAgent = `tenant_id = $1 and not exists (select from agent_versions v where v.tenant_id = a.tenant_id and v.agent_id = a.id)
  and not exists (select from sessions s where s.agent_tenant_id = a.tenant_id and s.agent_id = a.id)`
// A checkout that may still be paid stays until the provider can no longer report a payment.
const moneylessCheckout = `tenant_id = $1 and coalesce(paid_amount, 0) = 0
  and (paid_at is not null or ended_at is not null or (pending_at is null and expires_at < now() - interval '7 days'))`
const paidCheckout = `tenant_id = $1 and paid_amount > 0 and url <> ''`

/** A manifest with the members that reads of an ended session use. */
const blankManifest = '{"name":"deleted","tools":[]}'

/** The tables for which `delete … where tenant_id` is not enough. */
const special: Partial<Record<TenantTableName, Step[]>> = {
  webhook_deliveries: [keyedRemoval('webhook_deliveries', 'slot, tenant_id, sequence')],
  webhook_endpoint_deliveries: [keyedRemoval('webhook_endpoint_deliveries', 'slot, tenant_id, endpoint_id, sequence')],
  request_log: [keyedRemoval('request_log', 'slot, tenant_id, request_id')],
  request_log_chunks: [keyedRemoval('request_log_chunks', 'slot, tenant_id, last_at, id')],
  event_outbox: [keyedRemoval('event_outbox', 'slot, tenant_id, position')],
  // A launch that passed its check before the suspension may commit after isBusy: its bill is to be settled first.
  sessions: [removal('sessions', "tenant_id = $1 and status in ('stopped', 'failed', 'expired')")],
  agent_versions: [
    step(
      'agent-versions',
      `delete from agent_versions where ctid = any (array(select ctid from agent_versions v where ${unreferencedVersion} limit ${batchRows}))`,
    ),
    step(
      'agent-versions-blank',
      `update agent_versions set manifest = '${blankManifest}' where ctid = any (array(
         select ctid from agent_versions where tenant_id = $1 and manifest::text <> '${blankManifest}' limit ${batchRows}))`,
    ),
  ],
  agents: [
    step(
      'agents',
      `delete from agents where ctid = any (array(select ctid from agents a where ${unreferencedAgent} limit ${batchRows}))`,
    ),
    step(
      'agents-blank',
      `update agents set name = 'deleted', description = '', instructions = '', model = null, endpoint = null, tools = '[]',
         tool_secrets = null, signing_secret = null, greeting = null, avatar_url = null, status = 'draft', status_before = null, card = null, card_salt = null
       where ctid = any (array(
         select ctid from agents where tenant_id = $1 and (name, description, instructions) <> ('deleted', '', '') limit ${batchRows}))`,
    ),
  ],
  checkouts: [
    removal('checkouts', moneylessCheckout),
    // The payment may still be returned: see docs/decisions/0078. forgetCheckouts removes the row.
    step(
      'checkouts-blank',
      `update checkouts set reference = '', url = '', success_url = '', cancel_url = '', license_sealed = null
       where ctid = any (array(select ctid from checkouts where ${paidCheckout} limit ${batchRows}))`,
    ),
  ],
  // deleteBlobs removes the row after the blobs.
  blob_deletions: [],
  ledger_transfers: [
    step(
      'ledger-memos',
      `update ledger_transfers set memo = null where ctid = any (array(
         select ctid from ledger_transfers where tenant_id = $1 and memo is not null limit ${batchRows}))`,
    ),
  ],
}

const tables = namesOf(tenantTables)
const steps: Step[] = [
  ...tables.flatMap((table) => special[table] ?? (tenantTables[table].deletion === 'removed' ? [removal(table)] : [])),
  removal('idempotency_keys', 'scope = $1', 'key_hash'),
]

/**
 * Removes one batch of the tenant's rows, from the first table that has any. Returns how many; 0: nothing is left.
 */
export async function eraseBatch(tx: Tx, tenantId: string): Promise<number> {
  for (const { statement } of steps) {
    const rows = (await tx.query(statement, [tenantId]))[0]?.rows ?? 0
    if (rows > 0) return rows
  }
  return 0
}

const busyStatement = statement<{ busy: boolean }>(
  'tenant-erase-busy',
  `select exists (select from artifact_jobs where tenant_id = $1)
     or exists (select from sessions where tenant_id = $1 and status in ('launching', 'running', 'stopping', 'armed'))
     or exists (select from sessions where agent_tenant_id = $1 and status in ('launching', 'running', 'stopping', 'armed')) as busy`,
)

/** Whether the tenant still has running work whose bill must be settled. */
export async function isBusy(tx: Tx, tenantId: string): Promise<boolean> {
  return (await tx.query(busyStatement, [tenantId]))[0]?.busy ?? false
}

// For a minute after the suspension, requests may still write: a process that missed the notification accepts a key for
// 15 s, and a body may arrive for 30 s.
const leftStatement = statement<{ left: boolean }>(
  'tenant-erase-left',
  `select exists (select from blob_deletions where tenant_id = $1)
     or exists (select from checkouts where tenant_id = $1 and (paid_at is null or url <> ''))
     or exists (select from tenant_deletions where tenant_id = $1 and requested_at > now() - interval '1 minute') as left`,
)

/** Whether blobs are still being deleted, a payment may still arrive, or the tenant has just been suspended. */
export async function isSomethingLeft(tx: Tx, tenantId: string): Promise<boolean> {
  return (await tx.query(leftStatement, [tenantId]))[0]?.left ?? false
}
