import type { Collection } from './collection.ts'

/** What GET answers; app_state only to the owner. */
export function collectionView(collection: Collection, owner: boolean) {
  return {
    id: collection.id,
    metadata: collection.metadata,
    state: collection.state,
    contributor_policy: collection.contributorPolicy,
    item_count: collection.itemCount,
    created_at: collection.createdAt,
    ...(owner ? { app_state: collection.appState } : {}),
  }
}
