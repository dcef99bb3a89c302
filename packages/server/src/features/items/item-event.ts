import { event } from '../events/record-event.ts'
import type { Item } from './item.ts'

/** Tells what an item is after its curation. What was added is told by the function add_items, in the same form. */
export function itemUpdated(tenantId: string, collectionId: string, { id, type, approved, archived, hero, access }: Item) {
  return event(tenantId, 'item.updated', { collection_id: collectionId, item_id: id, type, approved, archived, hero, access })
}

/** Whether the curation changed anything. */
export function isChanged(before: Item, after: Item): boolean {
  const { approved, archived, hero, access, accessList } = after
  return (
    approved !== before.approved ||
    archived !== before.archived ||
    hero !== before.hero ||
    access !== before.access ||
    accessList !== before.accessList
  )
}
