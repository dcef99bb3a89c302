import { statement, type Db } from '#db/database.ts'

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
