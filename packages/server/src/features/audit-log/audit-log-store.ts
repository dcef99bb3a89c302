import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimeRange } from '#http/time-page.ts'
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts'

interface Row {
  id: string
  created_at: string
  tenant_id: string | null
  actor_kind: AuditEntry['actor']['kind']
  actor_id: string | null
  actor_name: string | null
  operation: string
  targets: Record<string, string | number>
  outcome: AuditEntry['outcome']
  code: string | null
  address: string | null
  request_id: string | null
}

const columns =
  'id, created_at, tenant_id, actor_kind, actor_id, actor_name, operation, targets, outcome, code, address, request_id'

function toEntry(row: Row): AuditEntry {
  return {
    id: row.id,
    createdAt: row.created_at,
    tenantId: row.tenant_id,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    operation: row.operation,
    targets: row.targets,
    outcome: row.outcome,
    code: row.code,
    address: row.address,
    requestId: row.request_id,
  }
}

const insertStatement = statement<never>(
  'audit-log-insert',
  `insert into audit_log (id, tenant_id, actor_kind, actor_id, actor_name, operation, targets, outcome, code, address, request_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
)

export async function insertAuditEntry(tx: Tx, entry: NewAuditEntry): Promise<void> {
  const { id, tenantId, actor, operation, targets, outcome, code, address, requestId } = entry
  const { kind, id: actorId, name } = actor
  const json = JSON.stringify(targets)
  const values = [id, tenantId, kind, actorId, name, operation, json, outcome, code, address, requestId]
  await tx.query(insertStatement, values)
}

const page = `(created_at, id) < ($1::timestamptz, $2) and created_at >= $3::timestamptz order by created_at desc, id desc limit $4`
const listStatement = statement<Row>('audit-log-list', `select ${columns} from audit_log where ${page}`)
const ofTenantStatement = statement<Row>(
  'audit-log-of-tenant',
  `select ${columns} from audit_log where tenant_id = $5 and ${page}`,
)

/** Newest first. Without a tenant, the entries of the whole installation. */
export async function listAuditEntries(
  db: Db,
  tenantId: string | undefined,
  { after, from }: TimeRange,
  limit: number,
): Promise<AuditEntry[]> {
  const values = [after.createdAt, after.id, from, limit]
  const rows =
    tenantId === undefined ? await db.query(listStatement, values) : await db.query(ofTenantStatement, [...values, tenantId])
  return rows.map(toEntry)
}

const dueStatement = statement<{ due: boolean }>(
  'audit-log-removal-due',
  'select exists (select from audit_log where created_at < now() - make_interval(days => $1 + 1)) as due',
)
const removeStatement = statement<{ removed: number }>(
  'audit-log-remove',
  // The trigger on this operation removes the entries and records how many there were.
  `insert into audit_log (id, actor_kind, operation, targets, outcome)
   values ($1, 'system', 'removeAuditEntries',
     jsonb_build_object('up_to', to_char((now() - make_interval(days => $2)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 'done')
   returning (targets->>'removed')::bigint as removed`,
  { writes: true },
)

/** Whether an entry exceeds the retention by a day. A removal is itself an entry, so it runs once a day. */
export async function hasOldAuditEntries(db: Db, days: number): Promise<boolean> {
  return (await db.query(dueStatement, [days]))[0]?.due ?? false
}

/** Removes up to 10,000 entries that are older than the retention, and records that. Returns how many. */
export async function removeOldAuditEntries(db: Db, id: string, days: number): Promise<number> {
  return (await db.query(removeStatement, [id, days]))[0]?.removed ?? 0
}
