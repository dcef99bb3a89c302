import { ApiError, invalid } from '#errors/api-error.ts'
import { parseJsonObject } from '@atrium/contract/strict-json'
import { type RecipientJwk, sealTo } from '#crypto/jwe.ts'

export type CollectionState = 'open' | 'ready' | 'closed'
export type ContributorPolicy = 'open' | 'token'
export type ItemAccess = 'owner' | 'open'

export interface Collection {
  tenantId: string
  id: string
  metadata: Record<string, unknown>
  appState: Record<string, unknown>
  state: CollectionState
  contributorPolicy: ContributorPolicy
  /** The access of items that are added from now on. */
  itemAccess: ItemAccess
  /** Whether a page without a key shows the open items. */
  wall: boolean
  adminTokenHash: Buffer
  contributorTokenHash: Buffer | null
  /** The public JWK to which every item is sealed; null: the collection is not a box. */
  boxRecipient: Record<string, unknown> | null
  /** Items that are approved and not archived. */
  itemCount: number
  createdAt: string
}

const order: Record<CollectionState, number> = { open: 0, ready: 1, closed: 2 }

/** A state never goes back. Setting the current state changes nothing. */
export function assertCanMove(from: CollectionState, to: CollectionState): void {
  if (order[to] < order[from]) {
    throw new ApiError('state_conflict', { message: `The collection is ${from} and cannot go back to ${to}.` })
  }
}

/** A box shows its items to nobody: they are sealed to its recipient. */
export function assertBoxIsNotOpen({ boxRecipient, itemAccess, wall }: Pick<Collection, 'boxRecipient' | 'itemAccess' | 'wall'>) {
  if (!boxRecipient) return
  const message = 'a box cannot show its items: they are sealed to its recipient'
  if (itemAccess === 'open') throw invalid('/item_access', message)
  if (wall) throw invalid('/wall', message)
}

/** What events say of a collection: never its metadata, never a token. */
export function collectionEvent({ id, state, contributorPolicy, itemAccess, wall }: EventFields) {
  return { collection_id: id, state, contributor_policy: contributorPolicy, item_access: itemAccess, wall }
}

type EventFields = Pick<Collection, 'id' | 'state' | 'contributorPolicy' | 'itemAccess' | 'wall'>

/** The collection as the API returns it. Only the owner gets app_state. */
export function collectionView(collection: Collection, owner: boolean) {
  return {
    id: collection.id,
    metadata: collection.metadata,
    state: collection.state,
    contributor_policy: collection.contributorPolicy,
    item_access: collection.itemAccess,
    wall: collection.wall,
    item_count: collection.itemCount,
    created_at: collection.createdAt,
    ...(owner ? { app_state: collection.appState } : {}),
  }
}

/** Seals an item to the recipient of the box. */
export function sealToBox(jwk: RecipientJwk, item: { type: string; content: unknown; author: string | null }): Promise<string> {
  return sealTo(jwk, JSON.stringify(item))
}

const base64url = /^[A-Za-z0-9_-]*$/

/**
 * Throws unless the content is a compact JWE with the algorithms of a box. The server cannot read what it contains.
 */
export function assertSealed(content: unknown): string {
  const refuse = (message: string) =>
    new ApiError('invalid_request', { message: `/content: ${message}`, details: [{ path: '/content', message }] })
  if (typeof content !== 'string') throw refuse('must be a compact JWE')
  const parts = content.split('.')
  const [head] = parts
  if (head === undefined || parts.length !== 5 || !parts.every((text) => base64url.test(text)))
    throw refuse('must be a compact JWE of five base64url parts')
  const header = parseJsonObject(Buffer.from(head, 'base64url'))
  if (header?.['alg'] !== 'ECDH-ES+A256KW' || header['enc'] !== 'A256GCM')
    throw refuse('must be sealed with ECDH-ES+A256KW and A256GCM')
  return content
}
