import { limits } from '@atrium/contract/limits'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { assertBoxIsNotOpen, assertCanMove, collectionView } from '../collection.ts'
import { assertJsonSize, mergePatch } from '../merge-patch.ts'
import { findCollectionForUpdate, updateCollection as updateRow } from '../store.ts'

export const updateCollection: HandlerOf<'updateCollection'> = async ({ tx, tenantId, params, body }) => {
  const before = await findCollectionForUpdate(tx, tenantId, params.id)
  if (!before) throw new ApiError('not_found')
  const metadata = body.metadata ? mergePatch(before.metadata, body.metadata) : before.metadata
  assertJsonSize(metadata, limits.metadataBytes, '/metadata')
  const contributorPolicy = body.contributor_policy ?? before.contributorPolicy
  // Each change to the policy `token` creates a new token, so that a holder of an earlier one has no access.
  const contributorToken =
    contributorPolicy === 'token' && before.contributorPolicy === 'open' ? newCredential('contributorToken') : undefined
  const after = {
    ...before,
    metadata,
    contributorPolicy,
    itemAccess: body.item_access ?? before.itemAccess,
    wall: body.wall ?? before.wall,
    contributorTokenHash: contributorToken ? hashCredential(contributorToken) : before.contributorTokenHash,
  }
  assertBoxIsNotOpen(after)
  await updateRow(tx, tenantId, after)
  return {
    status: 200,
    data: { ...collectionView(after, true), ...(contributorToken ? { contributor_token: contributorToken } : {}) },
  }
}

export const setCollectionState: HandlerOf<'setCollectionState'> = async ({ tx, tenantId, params, body }) => {
  const before = await findCollectionForUpdate(tx, tenantId, params.id)
  if (!before) throw new ApiError('not_found')
  const state = body.state ?? before.state
  assertCanMove(before.state, state)
  const appState = body.app_state ? mergePatch(before.appState, body.app_state) : before.appState
  assertJsonSize(appState, limits.appStateBytes, '/app_state')
  await updateRow(tx, tenantId, { ...before, state, appState })
  if (state !== before.state) {
    const data = { collection_id: before.id, state, previous: before.state }
    await recordEvent(tx, tenantId, 'collection.state_changed', data)
  }
  return { status: 200, data: { id: before.id, state, ...(body.app_state ? { app_state: appState } : {}) } }
}
