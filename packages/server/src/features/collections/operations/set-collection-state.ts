import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { assertMayMove } from '../collection.ts'
import { assertJsonSize, mergePatch } from '../merge-patch.ts'
import { findCollectionForUpdate, updateCollection } from '../store.ts'

export const setCollectionState: HandlerOf<'setCollectionState'> = async ({ tx, tenantId, params, body }) => {
  const before = await findCollectionForUpdate(tx, tenantId, params.id)
  if (!before) throw new ApiError('not_found')
  const state = body.state ?? before.state
  assertMayMove(before.state, state)
  const appState = body.app_state ? mergePatch(before.appState, body.app_state) : before.appState
  assertJsonSize(appState, limits.appStateBytes, '/app_state')
  await updateCollection(tx, { ...before, state, appState })
  if (state !== before.state) {
    const data = { collection_id: before.id, state, previous: before.state }
    await recordEvent(tx, tenantId, 'collection.state_changed', data)
  }
  return { status: 200, data: { id: before.id, state, ...(body.app_state ? { app_state: appState } : {}) } }
}
