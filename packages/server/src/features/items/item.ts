import { event } from '../events/record-event.ts'

export interface Item {
  id: string
  seq: number
  type: string
  content: unknown
  author: string | null
  approved: boolean
  archived: boolean
  hero: boolean
  access: 'owner' | 'open' | 'email'
  /** Sealed at rest. */
  accessList: Buffer | null
  createdAt: string
}

/** Whether the item_count of its collection includes the item. */
export function isCounted(item: Pick<Item, 'approved' | 'archived'>): boolean {
  return item.approved && !item.archived
}

/** Whether a curation changed anything. */
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

/** The item as the API returns it. */
export function itemView(item: Item) {
  return {
    id: item.id,
    type: item.type,
    content: item.content,
    author: item.author,
    approved: item.approved,
    archived: item.archived,
    hero: item.hero,
    access: item.access,
    created_at: item.createdAt,
  }
}

/** The event after a curation. The SQL function try_add_items records item.created in the same form. */
export function itemUpdated(tenantId: string, collectionId: string, { id, type, approved, archived, hero, access }: Item) {
  return event(tenantId, 'item.updated', { collection_id: collectionId, item_id: id, type, approved, archived, hero, access })
}
