import { statement, type Db, type Tx } from '#db/database.ts'
import type { UploadMime } from '@atrium/contract/making'

/** Renewed while a check goes on, so that it passes on only from a process that is gone; who lost it changes nothing. */
const leaseSeconds = 45

export interface UploadKey {
  tenantId: string
  collectionId: string
  artifactId: string
}

/** What was announced. */
export interface Upload extends UploadKey {
  mime: UploadMime
  bytes: number
  sha256: string | null
}

export interface ClaimedUpload extends Upload {
  /** How many checks broke off before this one, because they took too long. */
  tries: number
  leaseOwner: string
}

const insertStatement = statement<never>(
  'artifact-uploads-insert',
  `insert into artifact_uploads (tenant_id, collection_id, artifact_id, mime, bytes, sha256, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
)

export async function insertUpload(tx: Tx, upload: Upload, expiresAt: Date): Promise<void> {
  const { tenantId, collectionId, artifactId, mime, bytes, sha256 } = upload
  await tx.query(insertStatement, [tenantId, collectionId, artifactId, mime, bytes, sha256, expiresAt.toISOString()])
}

const lockStatement = statement<never>(
  'artifact-uploads-lock',
  // A namespace of its own for each use of such locks; two tenants that share a number merely wait for each other.
  `select pg_advisory_xact_lock(hashtext('artifact_uploads'), hashtext($1))`,
)

const openStatement = statement<OpenUploads>(
  'artifact-uploads-open',
  `select count(*)::int as count, coalesce(sum(bytes), 0)::float as bytes, count(*) filter (where collection_id = $2)::int as "inCollection"
   from artifact_uploads where tenant_id = $1 and expires_at > now()`,
)

export interface OpenUploads {
  count: number
  bytes: number
  inCollection: number
}

/** Until this transaction ends, the tenant announces no upload, and nothing of it is stored. */
export async function lockUploads(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(lockStatement, [tenantId])
}

/** What a tenant has announced that is neither complete nor expired. Until this transaction ends, the tenant announces nothing else. */
export async function countOpenUploads(tx: Tx, tenantId: string, collectionId: string): Promise<OpenUploads> {
  // A statement of its own: the count must see what whoever held the lock has committed.
  await lockUploads(tx, tenantId)
  const [open] = await tx.query(openStatement, [tenantId, collectionId])
  return open!
}

const claimStatement = statement<Pick<ClaimedUpload, 'mime' | 'bytes' | 'sha256' | 'tries'>>(
  'artifact-uploads-claim',
  `update artifact_uploads set lease_owner = $4, lease_until = now() + make_interval(secs => ${leaseSeconds})
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and (lease_until is null or lease_until < now())
   returning mime, bytes, sha256, tries`,
)

/** Takes the upload for a check; undefined: another one is at it, or it is complete or gone. */
export async function claimUpload(db: Db, key: UploadKey, leaseOwner: string): Promise<ClaimedUpload | undefined> {
  const [row] = await db.query(claimStatement, [key.tenantId, key.collectionId, key.artifactId, leaseOwner])
  return row && { ...key, ...row, leaseOwner }
}

const renewStatement = statement<{ artifact_id: string }>(
  'artifact-uploads-renew',
  `update artifact_uploads set lease_until = now() + make_interval(secs => ${leaseSeconds})
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4 returning artifact_id`,
)

/** Whether it is still the holder's; then for the whole time of a lease from now on. */
export async function renewUpload(db: Db, upload: ClaimedUpload): Promise<boolean> {
  const { tenantId, collectionId, artifactId, leaseOwner } = upload
  return (await db.query(renewStatement, [tenantId, collectionId, artifactId, leaseOwner])).length === 1
}

const releaseStatement = statement<never>(
  'artifact-uploads-release',
  `update artifact_uploads set lease_owner = null, lease_until = null, tries = tries + $5
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4`,
)

/** Gives it back unchecked. */
export async function releaseUpload(db: Db, upload: ClaimedUpload, { tooSlow }: { tooSlow: boolean }): Promise<void> {
  const { tenantId, collectionId, artifactId, leaseOwner } = upload
  await db.query(releaseStatement, [tenantId, collectionId, artifactId, leaseOwner, tooSlow ? 1 : 0])
}

const deleteStatement = statement<{ artifact_id: string }>(
  'artifact-uploads-delete',
  `delete from artifact_uploads where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4 returning artifact_id`,
)

/** Whether it was still the holder's; then it is over. */
export async function deleteUpload(tx: Tx, upload: ClaimedUpload): Promise<boolean> {
  const { tenantId, collectionId, artifactId, leaseOwner } = upload
  return (await tx.query(deleteStatement, [tenantId, collectionId, artifactId, leaseOwner])).length === 1
}

const expireStatement = statement<{ tenant_id: string; collection_id: string; id: string }>(
  'artifact-uploads-expire',
  // The artifact's row first, as whoever deletes or completes it does. skip locked: those are left alone.
  `delete from artifacts
   where (tenant_id, collection_id, id) in (
     select a.tenant_id, a.collection_id, a.id
     from artifact_uploads u
     join artifacts a on a.tenant_id = u.tenant_id and a.collection_id = u.collection_id and a.id = u.artifact_id
     where u.expires_at < now() and (u.lease_until is null or u.lease_until < now())
     order by u.expires_at limit $1 for update of a skip locked
   )
   returning tenant_id, collection_id, id`,
)

/** Deletes artifacts whose upload was not completed in time, and with them their uploads. */
export async function deleteExpiredUploads(tx: Tx, limit: number): Promise<UploadKey[]> {
  const rows = await tx.query(expireStatement, [limit])
  return rows.map((row) => ({ tenantId: row.tenant_id, collectionId: row.collection_id, artifactId: row.id }))
}

const knownStatement = statement<{ artifact_id: string }>(
  'artifact-uploads-known',
  `select artifact_id from artifact_uploads where (tenant_id, collection_id, artifact_id) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
)

/** Those of them that are open. */
export async function listOpenUploads(db: Db, keys: UploadKey[]): Promise<Set<string>> {
  const rows = await db.query(knownStatement, [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ collectionId }) => collectionId),
    keys.map(({ artifactId }) => artifactId),
  ])
  return new Set(rows.map((row) => row.artifact_id))
}
