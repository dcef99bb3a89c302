import { statement, type Db, type Tx } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'
import type { UploadMime } from '@atrium/contract/making'

/**
 * The lease is renewed while a check runs, so that it expires only if the process is gone. Without the lease, a check
 * changes nothing.
 */
const leaseSeconds = 45

export interface UploadKey {
  tenantId: string
  collectionId: string
  artifactId: string
}

/** An upload as it was announced. */
export interface Upload extends UploadKey {
  mime: UploadMime
  bytes: number
  sha256: string | null
}

export interface ClaimedUpload extends Upload {
  /** How many earlier checks were aborted because they took too long. */
  attempts: number
  leaseOwner: string
}

interface Row {
  mime: UploadMime
  bytes: number
  sha256: string | null
  tries: number
}

const columns = 'mime, bytes, sha256, tries'

function toClaimedUpload(key: UploadKey, leaseOwner: string, { tries: attempts, ...row }: Row): ClaimedUpload {
  return { ...key, ...row, attempts, leaseOwner }
}

const insertStatement = statement<never>(
  'artifact-uploads-insert',
  // By the clock of the database, which also decides what has expired. That of the process may be hours behind it.
  `insert into artifact_uploads (tenant_id, collection_id, artifact_id, mime, bytes, sha256, expires_at, address)
   values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), $8)`,
)

export async function insertUpload(
  tx: Tx,
  tenantId: string,
  upload: Omit<Upload, 'tenantId'>,
  { expiresInSeconds, address }: { expiresInSeconds: number; address: string | undefined },
): Promise<void> {
  const { collectionId, artifactId, mime, bytes, sha256 } = upload
  await tx.query(insertStatement, [tenantId, collectionId, artifactId, mime, bytes, sha256, expiresInSeconds, address ?? null])
}

const lockStatement = statement<never>(
  'artifact-uploads-lock',
  // The first number is the namespace of this kind of lock. Two tenants whose hashes collide only wait for each other.
  `select pg_advisory_xact_lock(hashtext('artifact_uploads'), hashtext($1))`,
)

const openStatement = statement<OpenUploads>(
  'artifact-uploads-open',
  `select count(*)::int as count, coalesce(sum(bytes), 0)::float as bytes, count(*) filter (where collection_id = $2)::int as "inCollection",
     count(*) filter (where address = $3)::int as "ofAddress"
   from artifact_uploads where tenant_id = $1 and expires_at > now()`,
)

export interface OpenUploads {
  count: number
  bytes: number
  inCollection: number
  /** Those that the same address has announced with a publishable key. */
  ofAddress: number
}

/** Locks the tenant's uploads until the transaction ends: meanwhile none is announced or completed. */
export async function lockUploads(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(lockStatement, [tenantId])
}

/** Locks the tenant's uploads, and counts those that are neither complete nor expired. */
export async function countOpenUploads(tx: Tx, tenantId: string, collectionId: string, address?: string): Promise<OpenUploads> {
  // The lock is a statement of its own, so that the count sees what the previous holder of the lock has committed.
  await lockUploads(tx, tenantId)
  const none = { count: 0, bytes: 0, inCollection: 0, ofAddress: 0 }
  const [open = none] = await tx.query(openStatement, [tenantId, collectionId, address ?? null])
  return open
}

const claimStatement = statement<Row>(
  'artifact-uploads-claim',
  `update artifact_uploads set lease_owner = $4, lease_until = now() + make_interval(secs => ${leaseSeconds})
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and ${leaseOver('lease_until', leaseSeconds)}
   returning ${columns}`,
)

/** Claims the upload for a check; undefined: another check holds it, or it is complete or gone. */
export async function claimUpload(
  db: Db,
  tenantId: string,
  { collectionId, artifactId }: Omit<UploadKey, 'tenantId'>,
  leaseOwner: string,
): Promise<ClaimedUpload | undefined> {
  const [row] = await db.query(claimStatement, [tenantId, collectionId, artifactId, leaseOwner])
  return row && toClaimedUpload({ tenantId, collectionId, artifactId }, leaseOwner, row)
}

const renewStatement = statement<{ artifact_id: string }>(
  'artifact-uploads-renew',
  `update artifact_uploads set lease_until = now() + make_interval(secs => ${leaseSeconds})
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4 returning artifact_id`,
)

/** Renews the lease for its full time. Returns false if the claim no longer holds it. */
export async function renewUpload(db: Db, upload: ClaimedUpload): Promise<boolean> {
  const { tenantId, collectionId, artifactId, leaseOwner } = upload
  return (await db.query(renewStatement, [tenantId, collectionId, artifactId, leaseOwner])).length === 1
}

const releaseStatement = statement<never>(
  'artifact-uploads-release',
  `update artifact_uploads set lease_owner = null, lease_until = null, tries = tries + $5
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4`,
)

/** Releases the lease without an outcome. */
export async function releaseUpload(db: Db, upload: ClaimedUpload, { tooSlow }: { tooSlow: boolean }): Promise<void> {
  const { tenantId, collectionId, artifactId, leaseOwner } = upload
  await db.query(releaseStatement, [tenantId, collectionId, artifactId, leaseOwner, tooSlow ? 1 : 0])
}

const deleteStatement = statement<{ artifact_id: string }>(
  'artifact-uploads-delete',
  `delete from artifact_uploads where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4 returning artifact_id`,
)

/** Ends the upload. Returns false if the claim no longer holds its lease. */
export async function deleteUpload(tx: Tx, upload: ClaimedUpload): Promise<boolean> {
  const { tenantId, collectionId, artifactId, leaseOwner } = upload
  return (await tx.query(deleteStatement, [tenantId, collectionId, artifactId, leaseOwner])).length === 1
}

const expireStatement = statement<{ tenant_id: string; collection_id: string; id: string }>(
  'artifact-uploads-expire',
  // Locks the artifact's row first, as a delete or a completion does. skip locked: those are left to finish.
  `delete from artifacts
   where (tenant_id, collection_id, id) in (
     select a.tenant_id, a.collection_id, a.id
     from artifact_uploads u
     join artifacts a on a.tenant_id = u.tenant_id and a.collection_id = u.collection_id and a.id = u.artifact_id
     where u.expires_at < now() and ${leaseOver('u.lease_until', leaseSeconds)}
     order by u.expires_at limit $1 for update of a skip locked
   )
   returning tenant_id, collection_id, id`,
)

/**
 * Deletes artifacts of any tenant whose upload was not completed in time. Their uploads are deleted by the foreign
 * key.
 */
export async function deleteExpiredUploads(tx: Tx, limit: number): Promise<UploadKey[]> {
  const rows = await tx.query(expireStatement, [limit])
  return rows.map((row) => ({ tenantId: row.tenant_id, collectionId: row.collection_id, artifactId: row.id }))
}

const knownStatement = statement<{ artifact_id: string }>(
  'artifact-uploads-known',
  `select artifact_id from artifact_uploads where (tenant_id, collection_id, artifact_id) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
)

/** The artifact ids of those uploads that are open. */
export async function listOpenUploads(db: Db, keys: UploadKey[]): Promise<Set<string>> {
  const rows = await db.query(knownStatement, [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ collectionId }) => collectionId),
    keys.map(({ artifactId }) => artifactId),
  ])
  return new Set(rows.map((row) => row.artifact_id))
}
