import { statement, type Db, type Tx } from '../../../db/database.ts'

/** How long a removal may take before another one tries it too. */
const retryAfterSeconds = 120

export interface Removal {
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
export async function insertRemovals(tx: Tx, removals: Removal[]): Promise<void> {
  if (removals.length === 0) return
  await tx.query(insertStatement, [removals.map(({ tenantId }) => tenantId), removals.map(({ target }) => target)])
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

export async function claimRemovals(db: Db, limit: number): Promise<Removal[]> {
  return (await db.query(claimStatement, [limit])).map((row) => ({ tenantId: row.tenant_id, target: row.target }))
}

const deleteStatement = statement<never>(
  'blob-deletions-delete',
  'delete from blob_deletions where tenant_id = $1 and target = $2',
)

/** They are removed. */
export async function deleteRemoval(db: Db, { tenantId, target }: Removal): Promise<void> {
  await db.query(deleteStatement, [tenantId, target])
}

const failedStatement = statement<{ id: string }>(
  'artifacts-failed-of',
  `select id from artifacts
   where (tenant_id, collection_id, id) in (select * from unnest($1::text[], $2::text[], $3::text[])) and status = 'failed'`,
)

/** Those of them that failed: nothing of such a one is ever served, and it stays so. */
export async function listFailedArtifacts(
  db: Db,
  places: { tenantId: string; collectionId: string; artifactId: string }[],
): Promise<Set<string>> {
  const rows = await db.query(failedStatement, [
    places.map(({ tenantId }) => tenantId),
    places.map(({ collectionId }) => collectionId),
    places.map(({ artifactId }) => artifactId),
  ])
  return new Set(rows.map(({ id }) => id))
}

const claimSearchStatement = statement<{ after_key: string }>(
  'blob-search-claim',
  `update blob_search set due_at = now() + interval '10 minutes' where name = 'orphans' and due_at <= now() returning after_key`,
)

/** Where the search for orphans goes on; undefined: it is not due, or another one is at it. */
export async function claimSearch(db: Db): Promise<string | undefined> {
  const [row] = await db.query(claimSearchStatement, [])
  return row?.after_key
}

const saveSearchStatement = statement<never>(
  'blob-search-save',
  `update blob_search set after_key = $1, due_at = now() + make_interval(secs => $2) where name = 'orphans'`,
)

export async function saveSearch(db: Db, afterKey: string, pauseSeconds: number): Promise<void> {
  await db.query(saveSearchStatement, [afterKey, pauseSeconds])
}
