import { createArtifact } from './features/artifacts/operations/create-artifact.ts'
import { curateArtifact } from './features/artifacts/operations/curate-artifact.ts'
import { deleteArtifact } from './features/artifacts/operations/delete-artifact.ts'
import { getArtifact } from './features/artifacts/operations/get-artifact.ts'
import { listArtifacts } from './features/artifacts/operations/list-artifacts.ts'
import { createCollection } from './features/collections/operations/create-collection.ts'
import { deleteCollection } from './features/collections/operations/delete-collection.ts'
import { getCollection } from './features/collections/operations/get-collection.ts'
import { setCollectionState } from './features/collections/operations/set-collection-state.ts'
import { updateCollection } from './features/collections/operations/update-collection.ts'
import { addItem } from './features/items/operations/add-item.ts'
import { curateItem } from './features/items/operations/curate-item.ts'
import { deleteItem } from './features/items/operations/delete-item.ts'
import { getItem } from './features/items/operations/get-item.ts'
import { listItems } from './features/items/operations/list-items.ts'
import { createKey } from './features/keys/operations/create-key.ts'
import { listKeys } from './features/keys/operations/list-keys.ts'
import { revokeKey } from './features/keys/operations/revoke-key.ts'
import { getOembed } from './features/share/operations/get-oembed.ts'
import { renderCollection } from './features/share/operations/render-collection.ts'
import { createInvite } from './features/tenants/operations/create-invite.ts'
import { createTenant } from './features/tenants/operations/create-tenant.ts'
import { getTenant } from './features/tenants/operations/get-tenant.ts'
import { setTenantStatus } from './features/tenants/operations/set-tenant-status.ts'
import { signUpTenant } from './features/tenants/operations/sign-up-tenant.ts'
import { forwardSpace } from './http/forward-space.ts'
import type { Handlers } from './http/call.ts'

/** What serves each operation. The compiler refuses a served operation that is not here, and one here that the contract does not serve. */
export const handlers: Handlers = {
  callSpace: { forward: forwardSpace },
  signUpTenant,
  createTenant,
  setTenantStatus,
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
}
