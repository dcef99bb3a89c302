import { Locked } from '@atrium/traffic/batcher'
import { statement, type Db, type Tx } from '#db/database.ts'
import type { WrittenClaim } from '#http/idempotency/claim.ts'
import type { Item } from './item.ts'

export interface Row {
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

export const columns = 'id, seq, type, content, author, approved, archived, hero, access, access_list, created_at'

export function toItem({ access_list: accessList, created_at: createdAt, ...same }: Row): Item {
  return { ...same, accessList, createdAt }
}

/** An item to be added, with the idempotency claim that the same statement writes. */
export interface NewItem {
  tenantId: string
  collectionId: string
  id: string
  type: string
  /** JSON text. */
  content: string
  author: string | null
  /**
   * SHA-256 of the collection token that came with the item, empty without one. null: the access was checked, and the item
   * is sealed if the collection is a box.
   */
  tokenHash: Buffer | null
  claim: WrittenClaim | undefined
}

/**
 * unchecked: the token does not permit it, or the collection is a box. locked: another transaction holds the collection's
 * row; only for items with a token hash, because a caller without access must not wait for the lock.
 */
export type AddOutcome = 'added' | 'not_found' | 'not_open' | 'claim_taken' | 'unchecked' | 'locked'

const addStatement = statement<{ outcome: AddOutcome }>(
  'items-add',
  // One round trip a batch: the function also counts in collections, writes idempotency_keys and records the events.
  // See place-checked-items.sql.
  `select outcome from add_checked_items($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
  { writes: true, tries: 'one' },
)

/** The row that adding an item locks. Collection ids are unique across tenants. */
export function lockKeyOf({ collectionId }: NewItem): string {
  return collectionId
}

/** Adds a batch of items of any tenant, each with its own outcome. */
export async function addItems(db: Db, items: NewItem[]): Promise<(AddOutcome | Locked)[]> {
  const rows = await db.query(addStatement, [
    items.map((item) => item.tenantId),
    items.map((item) => item.collectionId),
    items.map((item) => item.id),
    items.map((item) => item.type),
    items.map((item) => item.content),
    items.map((item) => item.author),
    items.map((item) => item.tokenHash),
    items.map((item) => item.claim?.scope ?? null),
    items.map((item) => item.claim?.keyHash ?? null),
    items.map((item) => item.claim?.bodyHash ?? null),
    items.map((item) => item.claim?.answer ?? null),
    items.map((item) => item.claim?.expiresAt ?? null),
  ])
  return items.map((item, i) => {
    const outcome = rows[i]?.outcome
    if (outcome === undefined) throw new Error('add_checked_items returned fewer outcomes than items')
    return outcome === 'locked' ? new Locked(lockKeyOf(item)) : outcome
  })
}

const listStatement = statement<Row>(
  'items-list',
  `select ${columns} from items where tenant_id = $1 and collection_id = $2 and seq > $3 order by seq limit $4`,
)

interface Page {
  afterSeq: number
  limit: number
}

export async function listItems(db: Db, tenantId: string, collectionId: string, { afterSeq, limit }: Page): Promise<Item[]> {
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
 * As listItems, but the page ends with the item whose content reaches `maxBytes`. It has at least one item. The item
 * after the page is read too, to know whether more follow; `end` is its index.
 */
export async function listItemsWithin(
  db: Db,
  tenantId: string,
  collectionId: string,
  { afterSeq, limit, maxBytes }: Page & { maxBytes: number },
): Promise<{ items: Item[]; end: number | undefined }> {
  const rows = await db.query(listWithinStatement, [tenantId, collectionId, afterSeq, limit, maxBytes])
  const end = rows.findIndex(({ beyond }) => beyond)
  return { items: rows.map(toItem), end: end === -1 ? undefined : end }
}

const lastSeqStatement = statement<{ seq: number | null }>(
  'items-last-seq',
  'select max(seq) as seq from items where tenant_id = $1 and collection_id = $2',
)

/** The position of the newest item; 0 in an empty collection. */
export async function findLastSeq(db: Db, tenantId: string, collectionId: string): Promise<number> {
  return (await db.query(lastSeqStatement, [tenantId, collectionId]))[0]?.seq ?? 0
}

/**
 * Items by a list of keys, in its order: an index look-up for each. With `= any (list)` PostgreSQL reads the whole
 * collection while it has no statistics of the table, such as after an import.
 */
function byKeysText(key: 'id' | 'seq', type: 'text' | 'bigint'): string {
  return `select i.* from unnest($3::${type}[]) with ordinality as wanted (${key}, place)
   cross join lateral (
     select ${columns} from items where tenant_id = $1 and collection_id = $2 and ${key} = wanted.${key} limit 1
   ) i
   order by wanted.place`
}

const bySeqStatement = statement<Row>('items-by-seq', byKeysText('seq', 'bigint'))

/** The items at these positions, in that order. */
export async function listItemsBySeq(db: Db, tenantId: string, collectionId: string, seqs: number[]): Promise<Item[]> {
  return (await db.query(bySeqStatement, [tenantId, collectionId, seqs])).map(toItem)
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

/** Returns the item that was the hero before, if any. */
export async function clearItemHero(tx: Tx, tenantId: string, collectionId: string): Promise<Item | undefined> {
  const [row] = await tx.query(clearHeroStatement, [tenantId, collectionId])
  return row && toItem(row)
}

const deleteStatement = statement<Pick<Item, 'approved' | 'archived' | 'access'>>(
  'items-delete',
  'delete from items where tenant_id = $1 and collection_id = $2 and id = $3 returning approved, archived, access',
)

/** Returns the flags of the deleted item; undefined: it did not exist. */
export async function deleteItem(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  id: string,
): Promise<Pick<Item, 'approved' | 'archived' | 'access'> | undefined> {
  const [row] = await tx.query(deleteStatement, [tenantId, collectionId, id])
  return row
}

const byIdStatement = statement<Row>('items-by-id', byKeysText('id', 'text'))
const heroStatement = statement<Row>(
  'items-hero',
  `select ${columns} from items where tenant_id = $1 and collection_id = $2 and hero`,
)

/** The items with these ids, in that order, and the hero if requested. */
export async function listChosenItems(
  db: Db,
  tenantId: string,
  collectionId: string,
  { ids, hero }: { ids: string[]; hero: boolean },
): Promise<Item[]> {
  const rows = ids.length > 0 ? await db.query(byIdStatement, [tenantId, collectionId, [...new Set(ids)]]) : []
  const heroes = hero ? await db.query(heroStatement, [tenantId, collectionId]) : []
  return [...rows, ...heroes.filter(({ id }) => !ids.includes(id))].map(toItem)
}
