import type { Context } from '../context.ts'
import { ApiError } from '#errors/api-error.ts'
import { assertListed, openAccessList } from '../items/access-list.ts'
import type { Artifact, ListedArtifact } from './artifact.ts'
import { listAccessLists } from './store.ts'

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
