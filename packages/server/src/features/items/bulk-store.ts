import { statement, type Tx } from '#db/database.ts'
import type { Item } from './item.ts'
import { columns, toItem, type Row } from './store.ts'

// The statements of this file look each item up by its whole key. With `id = any ($3)` PostgreSQL reads the whole
// collection while it has no statistics of the table, such as after an import. Each also compares the tenant with a
// value, which tells Citus that one shard is enough.

/** Each of the items by itself. `what`: the columns. */
const eachChosen = (what: string, lock = '') => `(select distinct unnest($3::text[]) as id) wanted
   cross join lateral (
     select ${what} from items where tenant_id = $1 and collection_id = $2 and id = wanted.id limit 1 ${lock}
   ) i`

const lockStatement = statement<Row>(
  'items-lock-many',
  `select i.* from ${eachChosen(columns, 'for no key update')} order by i.seq`,
)

/** Those of the items that exist, locked. The caller holds the lock of their collection. */
export async function listItemsForUpdate(tx: Tx, tenantId: string, collectionId: string, ids: string[]): Promise<Item[]> {
  return (await tx.query(lockStatement, [tenantId, collectionId, ids])).map(toItem)
}

const updateStatement = statement<never>(
  'items-update-many',
  `with changed as materialized (
     select $1::text as tenant_id, $2::text as collection_id, u.*
     from unnest($3::text[], $4::boolean[], $5::boolean[], $6::boolean[], $7::text[], $8::bytea[])
       as u (id, approved, archived, hero, access, access_list)
   )
   update items i set approved = c.approved, archived = c.archived, hero = c.hero, access = c.access, access_list = c.access_list
   from changed c
   where i.tenant_id = $1 and i.tenant_id = c.tenant_id and i.collection_id = c.collection_id and i.id = c.id`,
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
  // The rows of a tenant are in one shard, where a ctid names one row.
  `delete from items where tenant_id = $1 and ctid = any (array(select i.at from ${eachChosen('ctid as at')}))`,
)

export async function deleteItems(tx: Tx, tenantId: string, collectionId: string, ids: string[]): Promise<void> {
  await tx.query(deleteStatement, [tenantId, collectionId, ids])
}
