import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import { assertRecipient } from '#crypto/jwe.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { assertBoxIsNotOpen, collectionEvent, collectionView } from '../collection.ts'
import { assertJsonSize } from '#http/parse.ts'
import { metadataWarnings } from '../metadata-warnings.ts'
import { deleteCollection as deleteRow, findCollectionForUpdate, insertCollection, updateCollectionTokens } from '../store.ts'
import { filteredList, makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { listCollections as listRows } from '../list-store.ts'
import { ApiError } from '#errors/api-error.ts'
import { blobDeletionsOfCollection } from '#features/blob-deletions/blob-keys.ts'
import { insertBlobDeletions } from '#features/blob-deletions/store.ts'

export const createCollection: HandlerOf<'createCollection'> = async ({ tx, tenantId, body }) => {
  const { metadata = {}, app_state: appState = {}, contributor_policy: contributorPolicy = 'open', box } = body
  const { item_access: itemAccess = 'owner', wall = false } = body
  const boxRecipient = box?.recipient ?? null
  assertJsonSize(metadata, limits.metadataBytes, '/metadata')
  assertJsonSize(appState, limits.appStateBytes, '/app_state')
  if (box) await assertRecipient(box.recipient, '/box/recipient')
  assertBoxIsNotOpen({ boxRecipient, itemAccess, wall })

  const id = newId('collection')
  const adminToken = newCredential('adminToken')
  const contributorToken = contributorPolicy === 'token' ? newCredential('contributorToken') : undefined
  await insertCollection(tx, tenantId, {
    id,
    metadata,
    appState,
    contributorPolicy,
    adminTokenHash: hashCredential(adminToken),
    contributorTokenHash: contributorToken ? hashCredential(contributorToken) : null,
    boxRecipient,
    itemAccess,
    wall,
  })
  const made = { id, state: 'open' as const, contributorPolicy, itemAccess, wall }
  await recordEvent(tx, tenantId, 'collection.created', collectionEvent(made))
  return {
    status: 201,
    data: { id, admin_token: adminToken, ...(contributorToken ? { contributor_token: contributorToken } : {}) },
    warnings: metadataWarnings(metadata),
  }
}

export const getCollection: HandlerOf<'getCollection'> = async ({ collection, owner }) => ({
  status: 200,
  data: collectionView(collection, owner),
})

export const listCollections: HandlerOf<'listCollections'> = async ({ ctx, tenantId, query }) => {
  const { state, q, limit = limits.pageDefault, cursor } = query
  const list = filteredList(`collections:${tenantId}`, { state, q })
  const after = readTimeCursor(list, cursor)
  const { collections, last } = await listRows(ctx.db, tenantId, { state, titlePart: q, after, limit })
  return {
    status: 200,
    data: collections.map((one) => ({
      id: one.id,
      state: one.state,
      contributor_policy: one.contributorPolicy,
      item_count: one.itemCount,
      created_at: one.createdAt,
      metadata: one.metadata,
    })),
    nextCursor: last && makeTimeCursor(list, last),
  }
}

/** Requests read the hashes from the database each time, so the commit ends an old token in every process. */
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

export const deleteCollection: HandlerOf<'deleteCollection'> = async ({ tx, tenantId, params }) => {
  const deleted = await deleteRow(tx, tenantId, params.id)
  if (deleted) {
    await insertBlobDeletions(tx, blobDeletionsOfCollection({ tenantId, collectionId: params.id }))
    await recordEvent(tx, tenantId, 'collection.deleted', { collection_id: params.id })
  }
  return { status: 204 }
}
