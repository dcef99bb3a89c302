import { statement, type Db, type Tx } from '#db/database.ts'

/** How long one process may take for a deletion before another process tries it too. */
const retryAfterSeconds = 120

export interface BlobDeletion {
  tenantId: string
  /** A key, or a prefix that ends in a slash. */
  target: string
}

interface Row {
  tenant_id: string
  target: string
}

const columns = 'tenant_id, target'

function toBlobDeletion(row: Row): BlobDeletion {
  return { tenantId: row.tenant_id, target: row.target }
}

const insertStatement = statement<never>(
  'blob-deletions-insert',
  // On conflict: the deletion is queued already. It becomes due at once, because more may have been stored since.
  `insert into blob_deletions (${columns}) select * from unnest($1::text[], $2::text[])
   on conflict on constraint blob_deletions_pkey do update set due_at = now()`,
)

/**
 * Queues blobs for deletion that no row refers to once this transaction has committed. They may belong to several
 * tenants.
 */
export async function insertBlobDeletions(tx: Tx, deletions: BlobDeletion[]): Promise<void> {
  if (deletions.length === 0) return
  await tx.query(insertStatement, [deletions.map(({ tenantId }) => tenantId), deletions.map(({ target }) => target)])
}

const claimStatement = statement<Row>(
  'blob-deletions-claim',
  // skip locked: two processes that sweep at the same moment take different rows.
  `update blob_deletions set due_at = now() + make_interval(secs => ${retryAfterSeconds})
   where (tenant_id, target) in (
     select ${columns} from blob_deletions where due_at <= now() order by due_at limit $1 for update skip locked
   )
   returning ${columns}`,
)

/** Claims due deletions of any tenant. */
export async function claimBlobDeletions(db: Db, limit: number): Promise<BlobDeletion[]> {
  return (await db.query(claimStatement, [limit])).map(toBlobDeletion)
}

const updateOverlongStatement = statement<never>(
  'blob-deletions-due-again',
  `update blob_deletions set due_at = now() where due_at > now() + interval '${retryAfterSeconds} seconds'`,
)

/** After the clock of the database was set back: deletions that are due later than any retry become due now. */
export async function updateOverlong(db: Db): Promise<void> {
  await db.query(updateOverlongStatement, [])
}

const deleteStatement = statement<never>(
  'blob-deletions-delete',
  'delete from blob_deletions where tenant_id = $1 and target = $2',
)

export async function deleteBlobDeletion(db: Db, tenantId: string, target: string): Promise<void> {
  await db.query(deleteStatement, [tenantId, target])
}
