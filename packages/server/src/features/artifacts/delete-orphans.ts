import type { Context } from '../context.ts'
import type { BlobPage } from '#ports/blobs/blobs.ts'
import { listKnownTenants } from '../tenants/store.ts'
import { ownerOfKey } from '../blob-deletions/blob-keys.ts'
import { areDeletionsHeld } from '../blob-deletions/hold-store.ts'
import { listOpenUploads } from './uploads/upload-store.ts'
import { claimSearch, listArtifactsWithBytes, pauseBetweenRoundsSeconds, saveSearch } from './orphan-store.ts'

/** A younger blob may belong to a row that is not committed yet. */
const minAgeMs = 24 * 60 * 60 * 1_000
const maxPages = 10
const pauseBetweenRunsSeconds = 5 * 60

interface OrphanOptions {
  minAgeMs?: number
  pageSize?: number
}

/**
 * Searches a part of the store for blobs that no row refers to, and deletes them. A process that was killed leaves
 * such blobs, and so does a write after a delete. Blobs of a tenant unknown to this database stay, since another
 * installation may share the store. Returns the number deleted.
 */
export async function deleteOrphans(ctx: Pick<Context, 'db' | 'blobs'>, options: OrphanOptions = {}): Promise<number> {
  const afterKey = await claimSearch(ctx.db)
  if (afterKey === undefined) return 0
  let cursor: string | undefined = afterKey || undefined
  let deleted = 0
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await ctx.blobs.list('', { cursor, ...(options.pageSize ? { limit: options.pageSize } : {}) })
    const orphans = await findOrphans(ctx, page.blobs, Date.now() - (options.minAgeMs ?? minAgeMs))
    // After the search: what a hold protects had a row when the hold began.
    if (await areDeletionsHeld(ctx.db)) break
    if (orphans.length > 0) await ctx.blobs.delete(orphans)
    deleted += orphans.length
    cursor = page.cursor
    if (!cursor) break
  }
  await saveSearch(ctx.db, cursor ?? '', cursor ? pauseBetweenRunsSeconds : pauseBetweenRoundsSeconds)
  return deleted
}

async function findOrphans({ db }: Pick<Context, 'db'>, blobs: BlobPage['blobs'], olderThanMs: number): Promise<string[]> {
  const old = blobs.flatMap(({ key, modifiedAt }) => {
    const owner = modifiedAt.getTime() < olderThanMs ? ownerOfKey(key) : undefined
    return owner ? [{ key, ...owner }] : []
  })
  if (old.length === 0) return []
  const [tenants, uploads, artifacts] = await Promise.all([
    listKnownTenants(db, [...new Set(old.map(({ tenantId }) => tenantId))]),
    listOpenUploads(
      db,
      old.filter(({ isUpload }) => isUpload),
    ),
    listArtifactsWithBytes(
      db,
      old.filter(({ isUpload }) => !isUpload),
    ),
  ])
  const isOrphan = ({ tenantId, isUpload, artifactId }: (typeof old)[number]) =>
    tenants.has(tenantId) && !(isUpload ? uploads : artifacts).has(artifactId)
  return old.filter(isOrphan).map(({ key }) => key)
}
