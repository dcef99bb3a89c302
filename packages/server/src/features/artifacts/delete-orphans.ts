import type { Context } from '../context.ts'
import type { BlobPage } from '#ports/blobs/blobs.ts'
import { listKnownTenants } from '../tenants/store.ts'
import { ownerOfKey } from '../blob-deletions/blob-keys.ts'
import { listKnownArtifacts } from './store.ts'
import { listOpenUploads } from './uploads/store.ts'
import { claimSearch, listFailedArtifacts, saveSearch } from './orphan-store.ts'

/** Whatever is on its way into a row is younger. */
const minAgeMs = 24 * 60 * 60 * 1_000
const maxPages = 10
const betweenStretchesSeconds = 5 * 60
const betweenRoundsSeconds = 60 * 60

interface OrphanOptions {
  minAgeMs?: number
  pageSize?: number
}

/**
 * Goes through a stretch of the store and removes what no row refers to: left by processes that were killed, or written after a delete. A blob of
 * a tenant that this database does not know is left alone, since the store may be shared with another installation. Says how many it removed.
 */
export async function deleteOrphans(ctx: Pick<Context, 'db' | 'blobs'>, options: OrphanOptions = {}): Promise<number> {
  const afterKey = await claimSearch(ctx.db)
  if (afterKey === undefined) return 0
  let cursor: string | undefined = afterKey || undefined
  let removed = 0
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await ctx.blobs.list('', { cursor, ...(options.pageSize ? { limit: options.pageSize } : {}) })
    const orphans = await findOrphans(ctx, page.blobs, Date.now() - (options.minAgeMs ?? minAgeMs))
    if (orphans.length > 0) await ctx.blobs.delete(orphans)
    removed += orphans.length
    cursor = page.cursor
    if (!cursor) break
  }
  await saveSearch(ctx.db, cursor ?? '', cursor ? betweenStretchesSeconds : betweenRoundsSeconds)
  return removed
}

async function findOrphans({ db }: Pick<Context, 'db'>, blobs: BlobPage['blobs'], olderThanMs: number): Promise<string[]> {
  const old = blobs.flatMap(({ key, modifiedAt }) => {
    const owner = modifiedAt.getTime() < olderThanMs ? ownerOfKey(key) : undefined
    return owner ? [{ key, ...owner }] : []
  })
  if (old.length === 0) return []
  const ofArtifacts = old.filter(({ isUpload }) => !isUpload)
  const [tenants, uploads, artifacts, failed] = await Promise.all([
    listKnownTenants(db, [...new Set(old.map(({ tenantId }) => tenantId))]),
    listOpenUploads(
      db,
      old.filter(({ isUpload }) => isUpload),
    ),
    listKnownArtifacts(db, ofArtifacts),
    listFailedArtifacts(db, ofArtifacts),
  ])
  const isKnown = ({ isUpload, artifactId }: (typeof old)[number]) =>
    isUpload ? uploads.has(artifactId) : artifacts.has(artifactId) && !failed.has(artifactId)
  return old.filter((blob) => tenants.has(blob.tenantId) && !isKnown(blob)).map(({ key }) => key)
}
