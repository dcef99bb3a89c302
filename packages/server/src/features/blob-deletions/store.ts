import { statement, type Db, type Tx } from '#db/database.ts'

/** How long a deletion may take before another one tries it too. */
const retryAfterSeconds = 120

export interface BlobDeletion {
  tenantId: string
  /** A key, or a prefix that ends in a slash. */
  target: string
}

const insertStatement = statement<never>(
  'blob-deletions-insert',
  // On conflict: the same is to be removed already.
  `insert into blob_deletions (tenant_id, target) select * from unnest($1::text[], $2::text[])
   on conflict on constraint blob_deletions_pkey do update set due_at = now()`,
)

/** Blobs that nothing refers to once this transaction has committed. */
export async function insertBlobDeletions(tx: Tx, deletions: BlobDeletion[]): Promise<void> {
  if (deletions.length === 0) return
  await tx.query(insertStatement, [deletions.map(({ tenantId }) => tenantId), deletions.map(({ target }) => target)])
}

const claimStatement = statement<{ tenant_id: string; target: string }>(
  'blob-deletions-claim',
  // skip locked: two processes that sweep at the same moment take different ones.
  `update blob_deletions set due_at = now() + make_interval(secs => ${retryAfterSeconds})
   where (tenant_id, target) in (
     select tenant_id, target from blob_deletions where due_at <= now() order by due_at limit $1 for update skip locked
   )
   returning tenant_id, target`,
)

export async function claimBlobDeletions(db: Db, limit: number): Promise<BlobDeletion[]> {
  return (await db.query(claimStatement, [limit])).map((row) => ({ tenantId: row.tenant_id, target: row.target }))
}

const deleteStatement = statement<never>(
  'blob-deletions-delete',
  'delete from blob_deletions where tenant_id = $1 and target = $2',
)

/** They are removed. */
export async function forgetBlobDeletion(db: Db, { tenantId, target }: BlobDeletion): Promise<void> {
  await db.query(deleteStatement, [tenantId, target])
}
