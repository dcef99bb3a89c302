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

/** Whether anyone with the publishable key finds the item in lists, streams and the wall. */
export function isOpen(item: Pick<Item, 'approved' | 'archived' | 'access'>): boolean {
  return isCounted(item) && item.access === 'open'
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

/** An open item as everyone with the publishable key sees it. */
export function openItemView({
  id,
  type,
  content,
  author,
  hero,
  createdAt,
}: Pick<Item, 'id' | 'type' | 'content' | 'author' | 'hero' | 'createdAt'>) {
  return { id, type, content, author, hero, created_at: createdAt }
}

/**
 * The event after a curation; `wasOpen`: before it. The SQL function place_checked_items records item.created in the same
 * form.
 */
export function itemUpdated(tenantId: string, collectionId: string, after: Item, wasOpen: boolean) {
  const { id, type, approved, archived, hero, access } = after
  const data = { collection_id: collectionId, item_id: id, type, approved, archived, hero, access }
  return event(tenantId, 'item.updated', data, wasOpen)
}
