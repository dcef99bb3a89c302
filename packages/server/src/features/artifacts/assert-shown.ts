import type { Context } from '../context.ts'
import { ApiError } from '#errors/api-error.ts'
import { assertListed } from '../items/assert-listed.ts'
import { isPublic, isPublished, type ListedArtifact } from './artifact.ts'

/**
 * Throws where whoever is not the owner may not see the artifact: 404 as for one that is not there or, where it is for accounts on a list,
 * the reason why the caller's does not pass.
 */
export async function assertShown(
  ctx: Context,
  headers: Record<string, string | string[] | undefined>,
  artifact: ListedArtifact & { tenantId: string },
): Promise<void> {
  if (isPublic(artifact)) return
  if (!isPublished(artifact) || artifact.access !== 'email') throw new ApiError('not_found')
  const { tenantId, id, accessList } = artifact
  await assertListed(ctx, headers, { tenantId, table: 'artifacts', id, accessList })
}
