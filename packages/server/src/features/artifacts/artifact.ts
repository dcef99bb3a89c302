import type { Config } from '#config/config.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { assertListed, openAccessList } from '#features/items/access-list.ts'
import { listAccessLists } from './store.ts'

export interface Artifact {
  id: string
  seq: number
  kind: 'image' | 'clip' | 'card'
  source: 'url' | 'paint' | 'produce' | 'upload'
  url: string | null
  status: 'painting' | 'ready' | 'failed' | 'quota_exceeded'
  stage: 'uploading' | 'queued' | 'running' | 'storing' | 'done'
  approved: boolean
  published: boolean
  hero: boolean
  archived: boolean
  access: 'owner' | 'open' | 'email'
  title: string | null
  alt: string | null
  width: number | null
  height: number | null
  mime: string | null
  bytes: number | null
  sha256: string | null
  /** Provider, model and seed of a painted picture: with its prompt, enough to paint it again. */
  provider: string | null
  model: string | null
  seed: number | null
  error: { code: string; message: string } | null
  createdAt: string
}

/** An artifact with its sealed access list. */
export interface ListedArtifact extends Artifact {
  accessList: Buffer | null
}

/** An artifact with the tenant and collection that it belongs to. */
export interface LocatedArtifact extends ListedArtifact {
  tenantId: string
  collectionId: string
}

/** An artifact whose bytes this installation stores. */
export type StoredArtifact = LocatedArtifact & { mime: string; bytes: number; sha256: string }

/**
 * Whether this installation stores the bytes: false while they are generated or uploaded, and for an artifact hosted
 * elsewhere.
 */
export function isStored<A extends Artifact>(artifact: A): artifact is A & Pick<StoredArtifact, 'mime' | 'bytes' | 'sha256'> {
  const { status, source, mime, bytes, sha256 } = artifact
  return status === 'ready' && source !== 'url' && mime !== null && bytes !== null && sha256 !== null
}

/** The address at which getMedia serves the bytes of a stored artifact. */
export function mediaAddress({ publicUrl }: Pick<Config, 'publicUrl'>, artifactId: string): string {
  return `${publicUrl}/v1/media/${artifactId}`
}

/** The artifact as the API returns it. A field without a value is left out, not null. */
export function artifactView(artifact: Artifact) {
  const { createdAt, title, alt, width, height, mime, bytes, sha256, provider, model, seed, error, ...always } = artifact
  return {
    ...always,
    ...(title === null ? {} : { title }),
    ...(alt === null ? {} : { alt }),
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
    ...(mime === null ? {} : { mime }),
    ...(bytes === null ? {} : { bytes }),
    ...(sha256 === null ? {} : { sha256 }),
    ...(provider === null ? {} : { provider }),
    ...(model === null ? {} : { model }),
    ...(seed === null ? {} : { seed }),
    ...(error === null ? {} : { error }),
    created_at: createdAt,
  }
}

/** The data that all events about an artifact have. */
export function artifactEvent(collectionId: string, { id, kind, source }: Pick<Artifact, 'id' | 'kind' | 'source'>) {
  return { collection_id: collectionId, artifact_id: id, kind, source }
}

/** How many access lists are in memory at once: each may hold a thousand accounts. */
const accessListsAtOnce = 20

/** Whether callers other than the owner may see it, as far as its access allows. */
function isPublished(artifact: Artifact): boolean {
  return artifact.published && artifact.approved && !artifact.archived
}

/** Whether anyone may see it. The statements of listArtifacts and listPublicPreviews express the same rule. */
export function isPublic(artifact: Artifact): boolean {
  return isPublished(artifact) && artifact.access === 'open'
}

/**
 * Throws if a caller who is not the owner may not see the artifact. The error is 404, as if the artifact did not
 * exist. If the artifact is for listed accounts, the error is the reason why the caller's account is refused.
 */
export async function assertVisible(
  ctx: Context,
  headers: Record<string, string | string[] | undefined>,
  artifact: ListedArtifact & { tenantId: string },
): Promise<void> {
  if (isPublic(artifact)) return
  if (!isPublished(artifact) || artifact.access !== 'email') throw new ApiError('not_found')
  const { tenantId, id, accessList } = artifact
  await assertListed(ctx, headers, { tenantId, table: 'artifacts', id, accessList })
}

/**
 * The artifacts of a page that the account may see. The result can be shorter than the page's limit, or empty, with
 * more to follow.
 */
export async function filterVisible(
  ctx: Context,
  tenantId: string,
  collectionId: string,
  page: Artifact[],
  account: string,
): Promise<Artifact[]> {
  const granted = new Set<string>()
  const ids = page.filter(({ access }) => access === 'email').map(({ id }) => id)
  for (let at = 0; at < ids.length; at += accessListsAtOnce) {
    const lists = await listAccessLists(ctx.db, tenantId, collectionId, ids.slice(at, at + accessListsAtOnce))
    for (const { id, accessList } of lists) {
      const status = openAccessList(ctx.vault, { tenantId, table: 'artifacts', id }, accessList).get(account)
      if (status === 'listed') granted.add(id)
    }
  }
  return page.filter(({ id, access }) => access === 'open' || granted.has(id))
}
