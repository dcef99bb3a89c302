import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import { assertRecipient } from '#crypto/jwe.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { assertBoxIsNotOpen, collectionEvent } from '../collection.ts'
import { assertJsonSize } from '../merge-patch.ts'
import { metadataWarnings } from '../metadata-warnings.ts'
import { insertCollection } from '../store.ts'

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
