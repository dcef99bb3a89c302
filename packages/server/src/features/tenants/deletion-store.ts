import { statement, type Db, type Tx } from '#db/database.ts'
import { deletionState, type Tenant } from './tenant.ts'

/** The deletion of a tenant: scheduled, then running, then done. */
export interface TenantDeletion {
  tenantId: string
  statusBefore: Tenant['status']
  requestedAt: string
  dueAt: string
  startedAt: string | null
  blobsQueuedAt: string | null
  finishedAt: string | null
  rowsRemoved: number
}

interface Row {
  tenant_id: string
  status_before: Tenant['status']
  requested_at: string
  due_at: string
  started_at: string | null
  blobs_queued_at: string | null
  finished_at: string | null
  rows_removed: number
}

const columns = 'tenant_id, status_before, requested_at, due_at, started_at, blobs_queued_at, finished_at, rows_removed'

function toDeletion(row: Row): TenantDeletion {
  return {
    tenantId: row.tenant_id,
    statusBefore: row.status_before,
    requestedAt: row.requested_at,
    dueAt: row.due_at,
    startedAt: row.started_at,
    blobsQueuedAt: row.blobs_queued_at,
    finishedAt: row.finished_at,
    rowsRemoved: row.rows_removed,
  }
}

/** The deletion as the API returns it. */
export function deletionView({ tenantId, requestedAt, dueAt, startedAt, finishedAt, rowsRemoved }: TenantDeletion) {
  return {
    tenant_id: tenantId,
    state: deletionState({ startedAt, finishedAt }),
    requested_at: requestedAt,
    due_at: dueAt,
    started_at: startedAt,
    finished_at: finishedAt,
    rows_removed: rowsRemoved,
  }
}

export function noDeletion(tenantId: string) {
  const times = { requested_at: null, due_at: null, started_at: null, finished_at: null }
  return { tenant_id: tenantId, state: 'none' as const, ...times, rows_removed: 0 }
}

const findStatement = statement<Row>('tenant-deletions-find', `select ${columns} from tenant_deletions where tenant_id = $1`)
const lockStatement = statement<Row>(
  'tenant-deletions-lock',
  `select ${columns} from tenant_deletions where tenant_id = $1 for no key update`,
)

export async function findDeletion(db: Db, tenantId: string): Promise<TenantDeletion | undefined> {
  const [row] = await db.query(findStatement, [tenantId])
  return row && toDeletion(row)
}

export async function findDeletionForUpdate(tx: Tx, tenantId: string): Promise<TenantDeletion | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId])
  return row && toDeletion(row)
}

const insertStatement = statement<Row>(
  'tenant-deletions-insert',
  `insert into tenant_deletions (tenant_id, status_before, due_at) values ($1, $2, now() + make_interval(days => $3))
   returning ${columns}`,
)

export async function insertDeletion(
  tx: Tx,
  tenantId: string,
  statusBefore: Tenant['status'],
  afterDays: number,
): Promise<TenantDeletion> {
  const [row] = await tx.query(insertStatement, [tenantId, statusBefore, afterDays])
  if (!row) throw new Error('the insert of a deletion returned no row')
  return toDeletion(row)
}

const cancelStatement = statement<never>('tenant-deletions-cancel', 'delete from tenant_deletions where tenant_id = $1')

export async function deleteDeletion(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(cancelStatement, [tenantId])
}

const dueStatement = statement<Row>(
  'tenant-deletions-due',
  // In random order: a hundred that wait, for a payment or for their files, must not keep the others from their turn.
  `select ${columns} from tenant_deletions where finished_at is null and due_at <= now() order by random() limit 100`,
)

/** Up to 100 deletions that are due or running. */
export async function listDueDeletions(db: Db): Promise<TenantDeletion[]> {
  return (await db.query(dueStatement, [])).map(toDeletion)
}

const progressStatement = statement<never>(
  'tenant-deletions-progress',
  `update tenant_deletions set started_at = coalesce(started_at, now()), rows_removed = rows_removed + $2,
     blobs_queued_at = case when $3 then coalesce(blobs_queued_at, now()) else blobs_queued_at end
   where tenant_id = $1`,
)

export async function updateProgress(
  tx: Tx,
  tenantId: string,
  { rows = 0, areBlobsQueued = false }: { rows?: number; areBlobsQueued?: boolean },
): Promise<void> {
  await tx.query(progressStatement, [tenantId, rows, areBlobsQueued])
}

const finishStatement = statement<never>(
  'tenant-deletions-finish',
  'update tenant_deletions set finished_at = now() where tenant_id = $1',
)
const eraseStatement = statement<never>(
  'tenants-erase',
  // The id stays: the ledger, epochs and the search for orphaned blobs refer to it.
  `update tenants set name = 'deleted', email = null, roles = null, status = 'suspended' where id = $1`,
)

/** Ends the deletion: of the tenant's own row, the id and the time of its creation stay. */
export async function finishDeletion(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(eraseStatement, [tenantId])
  await tx.query(finishStatement, [tenantId])
}
