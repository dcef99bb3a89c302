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

/** Whether the item is in its collection's item_count. */
export function counts(item: Pick<Item, 'approved' | 'archived'>): boolean {
  return item.approved && !item.archived
}

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
