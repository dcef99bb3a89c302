import { statement, type Db, type Tx } from '#db/database.ts'
import type { Collection, CollectionState, ContributorPolicy, ItemAccess } from './collection.ts'

interface Row {
  tenant_id: string
  id: string
  metadata: Record<string, unknown>
  app_state: Record<string, unknown>
  state: CollectionState
  contributor_policy: ContributorPolicy
  item_access: ItemAccess
  wall: boolean
  admin_token_hash: Buffer
  contributor_token_hash: Buffer | null
  box_recipient: Record<string, unknown> | null
  item_count: number
  created_at: string
}

const columns = `tenant_id, id, metadata, app_state, state, contributor_policy, item_access, wall, admin_token_hash,
  contributor_token_hash, box_recipient, item_count,
  created_at`

function toCollection(row: Row): Collection {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    metadata: row.metadata,
    appState: row.app_state,
    state: row.state,
    contributorPolicy: row.contributor_policy,
    itemAccess: row.item_access,
    wall: row.wall,
    adminTokenHash: row.admin_token_hash,
    contributorTokenHash: row.contributor_token_hash,
    boxRecipient: row.box_recipient,
    itemCount: row.item_count,
    createdAt: row.created_at,
  }
}

const listStatement = statement<Row>('collections-list', `select ${columns} from collections where id = any($1)`)

/** The collections with these ids, of any tenant: the caller compares the tenant. */
export async function listCollectionsById(db: Db, ids: string[]): Promise<Collection[]> {
  return (await db.query(listStatement, [ids])).map(toCollection)
}

/** What a stream of a collection depends on. */
export type CollectionGuard = Pick<Collection, 'adminTokenHash' | 'wall' | 'state'>

const guardsStatement = statement<{ id: string; admin_token_hash: Buffer; wall: boolean; state: CollectionState }>(
  'collections-guards',
  'select id, admin_token_hash, wall, state from collections where id = any($1)',
)

/** The guards of those collections that exist, by id. */
export async function listCollectionGuards(db: Db, ids: string[]): Promise<Map<string, CollectionGuard>> {
  const rows = await db.query(guardsStatement, [ids])
  return new Map(rows.map(({ id, admin_token_hash: adminTokenHash, wall, state }) => [id, { adminTokenHash, wall, state }]))
}

export type NewCollection = Omit<Collection, 'tenantId' | 'state' | 'itemCount' | 'createdAt'>

const insertStatement = statement<never>(
  'collections-insert',
  `insert into collections (tenant_id, id, metadata, app_state, contributor_policy, admin_token_hash, contributor_token_hash, box_recipient,
     item_access, wall)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)

export async function insertCollection(tx: Tx, tenantId: string, collection: NewCollection): Promise<void> {
  const { metadata, appState, boxRecipient } = collection
  await tx.query(insertStatement, [
    tenantId,
    collection.id,
    JSON.stringify(metadata),
    JSON.stringify(appState),
    collection.contributorPolicy,
    collection.adminTokenHash,
    collection.contributorTokenHash,
    boxRecipient && JSON.stringify(boxRecipient),
    collection.itemAccess,
    collection.wall,
  ])
}

const lockStatement = statement<Row>(
  'collections-lock',
  `select ${columns} from collections where tenant_id = $1 and id = $2 for no key update`,
)

/** Locks the collection for a change that depends on its current values. */
export async function findCollectionForUpdate(tx: Tx, tenantId: string, id: string): Promise<Collection | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, id])
  return row && toCollection(row)
}

const updateStatement = statement<never>(
  'collections-update',
  `update collections set metadata = $3, app_state = $4, state = $5, contributor_policy = $6, contributor_token_hash = $7,
     item_access = $8, wall = $9
   where tenant_id = $1 and id = $2`,
)

export async function updateCollection(tx: Tx, tenantId: string, collection: Collection): Promise<void> {
  await tx.query(updateStatement, [
    tenantId,
    collection.id,
    JSON.stringify(collection.metadata),
    JSON.stringify(collection.appState),
    collection.state,
    collection.contributorPolicy,
    collection.contributorTokenHash,
    collection.itemAccess,
    collection.wall,
  ])
}

const tokensStatement = statement<never>(
  'collections-tokens',
  `update collections set admin_token_hash = $3, contributor_token_hash = $4 where tenant_id = $1 and id = $2`,
)

export async function updateCollectionTokens(tx: Tx, tenantId: string, collection: Collection): Promise<void> {
  await tx.query(tokensStatement, [tenantId, collection.id, collection.adminTokenHash, collection.contributorTokenHash])
}

const countStatement = statement<never>(
  'collections-count',
  `update collections set item_count = item_count + $3 where tenant_id = $1 and id = $2`,
)

/** Keeps item_count exact when a curation or a deletion changes which items it includes. */
export async function addToItemCount(tx: Tx, tenantId: string, id: string, difference: number): Promise<void> {
  await tx.query(countStatement, [tenantId, id, difference])
}

const deleteStatement = statement<{ id: string }>(
  'collections-delete',
  `delete from collections where tenant_id = $1 and id = $2 returning id`,
)

const deleteItemsStatement = statement<never>(
  'collections-delete-items',
  'delete from items where tenant_id = $1 and collection_id = $2',
)

const deleteArtifactsStatement = statement<never>(
  'collections-delete-artifacts',
  'delete from artifacts where tenant_id = $1 and collection_id = $2',
)

/**
 * Returns whether it existed. Its row is deleted before items and artifacts, because every addition locks that row.
 * Nothing relies on a foreign key: items have none (0069), and that of artifacts will be dropped (0076).
 */
export async function deleteCollection(tx: Tx, tenantId: string, id: string): Promise<boolean> {
  const existed = (await tx.query(deleteStatement, [tenantId, id])).length === 1
  if (!existed) return false
  await tx.query(deleteItemsStatement, [tenantId, id])
  await tx.query(deleteArtifactsStatement, [tenantId, id])
  return true
}
