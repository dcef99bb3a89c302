import { isDeepStrictEqual } from 'node:util'
import { limits } from '@atrium/contract/limits'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { assertBoxIsNotOpen, assertCanMove, collectionEvent, collectionView, type Collection } from '../collection.ts'
import { assertJsonSize } from '#http/parse.ts'
import { mergePatch } from '../merge-patch.ts'
import { metadataWarnings } from '../metadata-warnings.ts'
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
  const changed = changedFields(before, after)
  if (changed.length > 0) await recordEvent(tx, tenantId, 'collection.updated', { ...collectionEvent(after), changed })
  return {
    status: 200,
    data: { ...collectionView(after, true), ...(contributorToken ? { contributor_token: contributorToken } : {}) },
    warnings: body.metadata ? metadataWarnings(body.metadata, metadata) : [],
  }
}

function changedFields(before: Collection, after: Collection) {
  return [
    ...(isDeepStrictEqual(before.metadata, after.metadata) ? [] : ['metadata' as const]),
    ...(before.contributorPolicy === after.contributorPolicy ? [] : ['contributor_policy' as const]),
    ...(before.itemAccess === after.itemAccess ? [] : ['item_access' as const]),
    ...(before.wall === after.wall ? [] : ['wall' as const]),
    ...(before.contributorTokenHash === after.contributorTokenHash ? [] : ['contributor_token' as const]),
  ]
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
