import type { Vault } from '#crypto/vault/vault.ts'
import { changedAccessList } from './access-list.ts'
import type { Item } from './item.ts'

export interface Curation {
  approved?: boolean
  archived?: boolean
  hero?: boolean
  access?: Item['access']
  grant?: string[]
  revoke?: string[]
}

/** The item after a curation. */
export function curate(vault: Vault, tenantId: string, item: Item, patch: Curation): Item {
  return {
    ...item,
    approved: patch.approved ?? item.approved,
    archived: patch.archived ?? item.archived,
    hero: patch.hero ?? item.hero,
    access: patch.access ?? item.access,
    accessList: changedAccessList(vault, { tenantId, table: 'items', id: item.id }, item.accessList, patch),
  }
}
