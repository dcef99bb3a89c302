import { statement, type Tx } from '#db/database.ts'
import type { Item } from './item.ts'
import { columns, toItem, type Row } from './store.ts'

const lockStatement = statement<Row>(
  'items-lock-many',
  `select ${columns} from items where tenant_id = $1 and collection_id = $2 and id = any($3) order by seq for no key update`,
)

/** Those of the items that exist, locked. The caller holds the lock of their collection. */
export async function listItemsForUpdate(tx: Tx, tenantId: string, collectionId: string, ids: string[]): Promise<Item[]> {
  return (await tx.query(lockStatement, [tenantId, collectionId, ids])).map(toItem)
}

const updateStatement = statement<never>(
  'items-update-many',
  `update items i set approved = u.approved, archived = u.archived, hero = u.hero, access = u.access, access_list = u.access_list
   from unnest($3::text[], $4::boolean[], $5::boolean[], $6::boolean[], $7::text[], $8::bytea[])
     as u (id, approved, archived, hero, access, access_list)
   where i.tenant_id = $1 and i.collection_id = $2 and i.id = u.id`,
)

export async function updateItems(tx: Tx, tenantId: string, collectionId: string, items: Item[]): Promise<void> {
  if (items.length === 0) return
  await tx.query(updateStatement, [
    tenantId,
    collectionId,
    items.map(({ id }) => id),
    items.map(({ approved }) => approved),
    items.map(({ archived }) => archived),
    items.map(({ hero }) => hero),
    items.map(({ access }) => access),
    items.map(({ accessList }) => accessList),
  ])
}

const deleteStatement = statement<never>(
  'items-delete-many',
  'delete from items where tenant_id = $1 and collection_id = $2 and id = any($3)',
)

export async function deleteItems(tx: Tx, tenantId: string, collectionId: string, ids: string[]): Promise<void> {
  await tx.query(deleteStatement, [tenantId, collectionId, ids])
}
