import { hashCredential, newCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { collectionEvent } from '../collection.ts'
import { findCollectionForUpdate, updateCollectionTokens } from '../store.ts'

/** Requests read the hashes from the database each time: an old token ends with the commit, on every process. */
export const rotateCollectionTokens: HandlerOf<'rotateCollectionTokens'> = async ({ tx, tenantId, params, body }) => {
  const before = await findCollectionForUpdate(tx, tenantId, params.id)
  if (!before) throw new ApiError('not_found')
  const adminToken = body.rotate.includes('admin_token') ? newCredential('adminToken') : undefined
  const contributorToken = body.rotate.includes('contributor_token') ? newCredential('contributorToken') : undefined
  if (contributorToken !== undefined && before.contributorPolicy === 'open')
    throw new ApiError('state_conflict', { message: 'The policy of the collection is open: it has no contributor token.' })
  await updateCollectionTokens(tx, tenantId, {
    ...before,
    adminTokenHash: adminToken === undefined ? before.adminTokenHash : hashCredential(adminToken),
    contributorTokenHash: contributorToken === undefined ? before.contributorTokenHash : hashCredential(contributorToken),
  })
  await recordEvent(tx, tenantId, 'collection.updated', { ...collectionEvent(before), changed: body.rotate })
  return {
    status: 201,
    data: {
      id: before.id,
      ...(adminToken === undefined ? {} : { admin_token: adminToken }),
      ...(contributorToken === undefined ? {} : { contributor_token: contributorToken }),
    },
  }
}
