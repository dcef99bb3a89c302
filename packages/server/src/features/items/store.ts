import { statement, type Db, type Tx } from '#db/database.ts'
import type { Item } from './item.ts'

interface Row {
  id: string
  seq: number
  type: string
  content: unknown
  author: string | null
  approved: boolean
  archived: boolean
  hero: boolean
  access: Item['access']
  access_list: Buffer | null
  created_at: string
}

const columns = 'id, seq, type, content, author, approved, archived, hero, access, access_list, created_at'

function toItem({ access_list: accessList, created_at: createdAt, ...same }: Row): Item {
  return { ...same, accessList, createdAt }
}

const listStatement = statement<Row>(
  'items-list',
  `select ${columns} from items where tenant_id = $1 and collection_id = $2 and seq > $3 order by seq limit $4`,
)

export async function listItems(
  db: Db,
  tenantId: string,
  collectionId: string,
  afterSeq: number,
  limit: number,
): Promise<Item[]> {
  return (await db.query(listStatement, [tenantId, collectionId, afterSeq, limit])).map(toItem)
}

const listWithinStatement = statement<Row & { beyond: boolean }>(
  'items-list-within',
  `select ${columns}, bytes_before >= $5 as beyond from (
     select ${columns},
       sum(octet_length(content::text)) over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before,
       sum(octet_length(content::text)) over (order by seq rows between unbounded preceding and 2 preceding) as bytes_before_last
     from items where tenant_id = $1 and collection_id = $2 and seq > $3
     order by seq limit $4
   ) i
   where coalesce(bytes_before_last, 0) < $5 order by seq`,
)

/**
 * The same up to the item with which their contents have `bytes`: at least one. The item after it is read too, to tell whether there are more; its
 * number in the list is `end`.
 */
export async function listItemsWithin(
  db: Db,
  tenantId: string,
  collectionId: string,
  { afterSeq, limit, bytes }: { afterSeq: number; limit: number; bytes: number },
): Promise<{ items: Item[]; end: number | undefined }> {
  const rows = await db.query(listWithinStatement, [tenantId, collectionId, afterSeq, limit, bytes])
  const end = rows.findIndex(({ beyond }) => beyond)
  return { items: rows.map(toItem), end: end === -1 ? undefined : end }
}

const findText = `select ${columns} from items where tenant_id = $1 and collection_id = $2 and id = $3`
const findStatement = statement<Row>('items-find', findText)
const lockStatement = statement<Row>('items-lock', `${findText} for no key update`)

export async function findItem(db: Db, tenantId: string, collectionId: string, id: string): Promise<Item | undefined> {
  const [row] = await db.query(findStatement, [tenantId, collectionId, id])
  return row && toItem(row)
}

export async function findItemForUpdate(tx: Tx, tenantId: string, collectionId: string, id: string): Promise<Item | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, collectionId, id])
  return row && toItem(row)
}

const updateStatement = statement<never>(
  'items-update',
  `update items set approved = $4, archived = $5, hero = $6, access = $7, access_list = $8
   where tenant_id = $1 and collection_id = $2 and id = $3`,
)

export async function updateItem(tx: Tx, tenantId: string, collectionId: string, item: Item): Promise<void> {
  const { id, approved, archived, hero, access, accessList } = item
  await tx.query(updateStatement, [tenantId, collectionId, id, approved, archived, hero, access, accessList])
}

const clearHeroStatement = statement<Row>(
  'items-clear-hero',
  `update items set hero = false where tenant_id = $1 and collection_id = $2 and hero returning ${columns}`,
)

/** The item that was the hero until now, if one was. */
export async function clearItemHero(tx: Tx, tenantId: string, collectionId: string): Promise<Item | undefined> {
  const [row] = await tx.query(clearHeroStatement, [tenantId, collectionId])
  return row && toItem(row)
}

const deleteStatement = statement<{ approved: boolean; archived: boolean }>(
  'items-delete',
  'delete from items where tenant_id = $1 and collection_id = $2 and id = $3 returning approved, archived',
)

export async function deleteItem(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  id: string,
): Promise<Pick<Item, 'approved' | 'archived'> | undefined> {
  const [row] = await tx.query(deleteStatement, [tenantId, collectionId, id])
  return row
}

const chosenStatement = statement<Row>(
  'items-chosen',
  `select ${columns} from items
   where tenant_id = $1 and collection_id = $2 and (id = any($3) or ($4 and hero))
   order by array_position($3, id)`,
)

/** The items with these ids, in that order; and the hero, where it is asked for. */
export async function listChosenItems(
  db: Db,
  tenantId: string,
  collectionId: string,
  { ids, hero }: { ids: string[]; hero: boolean },
): Promise<Item[]> {
  return (await db.query(chosenStatement, [tenantId, collectionId, ids, hero])).map(toItem)
}
