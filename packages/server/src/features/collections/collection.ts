import { ApiError } from '#errors/api-error.ts'

export type CollectionState = 'open' | 'ready' | 'closed'
export type ContributorPolicy = 'open' | 'token'

export interface Collection {
  tenantId: string
  id: string
  metadata: Record<string, unknown>
  appState: Record<string, unknown>
  state: CollectionState
  contributorPolicy: ContributorPolicy
  adminTokenHash: Buffer
  contributorTokenHash: Buffer | null
  /** Public JWK that every item is sealed to; null: not a box. */
  boxRecipient: Record<string, unknown> | null
  /** Items that are approved and not archived. */
  itemCount: number
  createdAt: string
}

const order: Record<CollectionState, number> = { open: 0, ready: 1, closed: 2 }

/** States go forward only; the state it already has is a no-op. */
export function assertMayMove(from: CollectionState, to: CollectionState): void {
  if (order[to] < order[from]) {
    throw new ApiError('state_conflict', { message: `The collection is ${from} and cannot go back to ${to}.` })
  }
}
