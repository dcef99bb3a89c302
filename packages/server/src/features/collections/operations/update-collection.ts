import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { assertJsonSize, mergePatch } from '../merge-patch.ts'
import { findCollectionForUpdate, updateCollection as updateRow } from '../store.ts'
import { collectionView } from '../views.ts'

export const updateCollection: HandlerOf<'updateCollection'> = async ({ tx, tenantId, params, body }) => {
  const before = await findCollectionForUpdate(tx, tenantId, params.id)
  if (!before) throw new ApiError('not_found')
  const metadata = body.metadata ? mergePatch(before.metadata, body.metadata) : before.metadata
  assertJsonSize(metadata, limits.metadataBytes, '/metadata')
  const contributorPolicy = body.contributor_policy ?? before.contributorPolicy
  // Whoever got the token of an earlier time under this policy should not be back in by itself: each turn to token mints a new one.
  const contributorToken =
    contributorPolicy === 'token' && before.contributorPolicy === 'open' ? newCredential('contributorToken') : undefined
  const after = {
    ...before,
    metadata,
    contributorPolicy,
    contributorTokenHash: contributorToken ? hashCredential(contributorToken) : before.contributorTokenHash,
  }
  await updateRow(tx, after)
  return {
    status: 200,
    data: { ...collectionView(after, true), ...(contributorToken ? { contributor_token: contributorToken } : {}) },
  }
}
