import { statement, type Db } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'

/** The longest pause before the search goes on. */
export const pauseBetweenRoundsSeconds = 60 * 60

interface ArtifactRef {
  tenantId: string
  collectionId: string
  artifactId: string
}

const knownStatement = statement<{ id: string; failed: boolean }>(
  'artifacts-known',
  `select id, status = 'failed' as failed from artifacts
   where (tenant_id, collection_id, id) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
)

/**
 * The ids of those that may have stored bytes. A failed artifact has none: its status is final, and its bytes are
 * never served.
 */
export async function listArtifactsWithBytes(db: Db, refs: ArtifactRef[]): Promise<Set<string>> {
  const rows = await db.query(knownStatement, [
    refs.map(({ tenantId }) => tenantId),
    refs.map(({ collectionId }) => collectionId),
    refs.map(({ artifactId }) => artifactId),
  ])
  return new Set(rows.filter(({ failed }) => !failed).map(({ id }) => id))
}

const claimSearchStatement = statement<{ after_key: string }>(
  'blob-search-claim',
  `update blob_search set due_at = now() + interval '10 minutes'
   where name = 'orphans' and ${leaseOver('due_at', pauseBetweenRoundsSeconds)} returning after_key`,
)

/**
 * Claims the search for orphans. Returns the key after which it continues; undefined: it is not due, or another
 * process runs it.
 */
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
