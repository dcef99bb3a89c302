import { agentHandlers } from '#features/agents/handlers.ts'
import { createArtifact } from '#features/artifacts/operations/create-artifact.ts'
import { curateArtifact } from '#features/artifacts/operations/curate-artifact.ts'
import { deleteArtifact } from '#features/artifacts/operations/delete-artifact.ts'
import { getArtifact } from '#features/artifacts/operations/get-artifact.ts'
import { getMedia } from '#features/artifacts/operations/get-media.ts'
import { listArtifacts } from '#features/artifacts/operations/list-artifacts.ts'
import { markArtifactReady } from '#features/artifacts/operations/mark-artifact-ready.ts'
import { uploadArtifact } from '#features/artifacts/operations/upload-artifact.ts'
import { createCollection } from '#features/collections/operations/create-collection.ts'
import { deleteCollection } from '#features/collections/operations/delete-collection.ts'
import { getCollection } from '#features/collections/operations/get-collection.ts'
import { setCollectionState } from '#features/collections/operations/set-collection-state.ts'
import { updateCollection } from '#features/collections/operations/update-collection.ts'
import { getProviderKeys } from '#features/provider-keys/operations/get-provider-keys.ts'
import { setProviderKeys } from '#features/provider-keys/operations/set-provider-keys.ts'
import { paintArtifact } from '#features/artifacts/operations/paint-artifact.ts'
import { produceArtifact } from '#features/artifacts/operations/produce-artifact.ts'
import { creditHandlers } from '#features/credits/handlers.ts'
import { eventHandlers } from '#features/events/handlers.ts'
import { addItem } from '#features/items/operations/add-item.ts'
import { curateItem } from '#features/items/operations/curate-item.ts'
import { deleteItem } from '#features/items/operations/delete-item.ts'
import { getItem } from '#features/items/operations/get-item.ts'
import { listItems } from '#features/items/operations/list-items.ts'
import { createKey } from '#features/keys/operations/create-key.ts'
import { listKeys } from '#features/keys/operations/list-keys.ts'
import { revokeKey } from '#features/keys/operations/revoke-key.ts'
import { getTenantLimits } from '#features/limits/operations/get-tenant-limits.ts'
import { setTenantLimits } from '#features/limits/operations/set-tenant-limits.ts'
import { getOembed } from '#features/share/operations/get-oembed.ts'
import { renderCollection } from '#features/share/operations/render-collection.ts'
import { sessionHandlers } from '#features/sessions/handlers.ts'
import { createInvite } from '#features/tenants/operations/create-invite.ts'
import { createTenant } from '#features/tenants/operations/create-tenant.ts'
import { getTenant } from '#features/tenants/operations/get-tenant.ts'
import { setTenantStatus } from '#features/tenants/operations/set-tenant-status.ts'
import { signUpTenant } from '#features/tenants/operations/sign-up-tenant.ts'
import { getTurnCredentials } from '#features/relay/operations/get-turn-credentials.ts'
import { getUsage } from '#features/usage/operations/get-usage.ts'
import { webhookHandlers } from '#features/webhooks/handlers.ts'
import { resealSecrets } from '#features/installation/operations/reseal-secrets.ts'
import { forwardSpace } from './forward-space.ts'
import type { Handlers } from '#features/handler.ts'

const otherHandlers = {
  callSpace: forwardSpace,
  signUpTenant,
  createTenant,
  setTenantStatus,
  getTenantLimits,
  setTenantLimits,
  createInvite,
  getTenant,
  listKeys,
  createKey,
  revokeKey,
  createCollection,
  getCollection,
  updateCollection,
  deleteCollection,
  setCollectionState,
  renderCollection,
  getOembed,
  listItems,
  addItem,
  getItem,
  curateItem,
  deleteItem,
  listArtifacts,
  createArtifact,
  getArtifact,
  curateArtifact,
  deleteArtifact,
  uploadArtifact,
  markArtifactReady,
  getMedia,
  getUsage,
  getTurnCredentials,
  setProviderKeys,
  getProviderKeys,
  paintArtifact,
  produceArtifact,
  resealSecrets,
} satisfies Partial<Handlers>

/** The operations that two of the parts serve. */
type Repeated<Parts, Seen = never> = Parts extends [infer First, ...infer Rest]
  ? (keyof First & Seen) | Repeated<Rest, Seen | keyof First>
  : never

type Parts = [
  typeof agentHandlers,
  typeof creditHandlers,
  typeof eventHandlers,
  typeof sessionHandlers,
  typeof webhookHandlers,
  typeof otherHandlers,
]

/**
 * The handler of each operation. A served operation without a handler does not compile, nor does a handler of an
 * operation that is not served, nor an operation that two features serve.
 */
export const handlers: Handlers & Record<Repeated<Parts>, never> = {
  ...agentHandlers,
  ...creditHandlers,
  ...eventHandlers,
  ...sessionHandlers,
  ...webhookHandlers,
  ...otherHandlers,
}
