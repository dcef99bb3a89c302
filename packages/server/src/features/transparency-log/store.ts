import type { Tile, TileId } from '@atrium/log/tiles'
import { statement, type Db, type Tx } from '#db/database.ts'

export interface LeafToQueue {
  leafHash: Uint8Array
  entry: Buffer
}

const queueStatement = statement<object>(
  'log-queue-leaves',
  // An entry that is queued or logged already stays as it is.
  `insert into log_leaves (leaf_hash, entry) select leaf_hash, entry from unnest($1::bytea[], $2::bytea[]) as new (leaf_hash, entry)
   on conflict do nothing returning 1`,
)

/** Returns how many of them are new. */
export async function queueLeaves(db: Db, leaves: readonly LeafToQueue[]): Promise<number> {
  if (leaves.length === 0) return 0
  return (await db.query(queueStatement, [leaves.map(({ leafHash }) => leafHash), leaves.map(({ entry }) => entry)])).length
}

const showStatement = statement<never>(
  'log-show',
  // Asked again all the time, and written only if something else is shown.
  `insert into log_shown (type, leaf_hash) values ($1, $2)
   on conflict (type) do update set leaf_hash = excluded.leaf_hash where log_shown.leaf_hash <> excluded.leaf_hash`,
)

/** Remembers the entry of what is shown now. */
export async function saveShown(db: Db, type: string, leafHash: Uint8Array): Promise<void> {
  await db.query(showStatement, [type, leafHash])
}

const shownStatement = statement<{ leaf_hash: Buffer }>('log-shown', 'select leaf_hash from log_shown where type = $1')

export async function findShown(db: Db, type: string): Promise<Buffer | undefined> {
  return (await db.query(shownStatement, [type]))[0]?.leaf_hash
}

/** The tree of all integrated leaves. */
export interface LogTree {
  size: number
  root: Buffer
  /** When witnesses last answered. After a restore: all of them. */
  heardAt: string | undefined
  /** Why nothing is signed for now. */
  waiting: string | undefined
  /** Why the log of this origin is never signed again. Without an origin: every log. */
  refusal: { reason: string; origin: string | undefined } | undefined
}

interface TreeRow {
  size: number
  root: Buffer
  heard_at: string | null
  waiting: string | null
  refusal: string | null
  refused_origin: string | null
}

const toTree = ({ size, root, heard_at: heardAt, waiting, refusal, refused_origin: refusedOrigin }: TreeRow): LogTree => ({
  size,
  root,
  heardAt: heardAt ?? undefined,
  waiting: waiting ?? undefined,
  refusal: refusal === null ? undefined : { reason: refusal, origin: refusedOrigin ?? undefined },
})

const treeText = 'select size, root, heard_at, waiting, refusal, refused_origin from log_tree'
const treeStatement = statement<TreeRow>('log-tree', treeText)
const lockTreeStatement = statement<TreeRow>('log-tree-lock', `${treeText} for update`)

async function readTree(db: Db, read: typeof treeStatement): Promise<LogTree> {
  const [row] = await db.query(read, [])
  if (row === undefined) throw new Error('log_tree has no row')
  return toTree(row)
}

export const getTree = (db: Db): Promise<LogTree> => readTree(db, treeStatement)

/** Waits until no other process integrates. */
export const lockTree = (tx: Tx): Promise<LogTree> => readTree(tx, lockTreeStatement)

const waitingStatement = statement<{ leaf_hash: Buffer }>(
  'log-waiting-leaves',
  'select leaf_hash from log_leaves where position is null order by queued_at, leaf_hash limit $1',
)

export async function listWaitingLeaves(db: Db, limit: number): Promise<Buffer[]> {
  return (await db.query(waitingStatement, [limit])).map(({ leaf_hash: leafHash }) => leafHash)
}

const placeStatement = statement<{ position: number }>(
  'log-place-leaves',
  `update log_leaves set position = $1::bigint + placed.place - 1
   from unnest($2::bytea[]) with ordinality as placed (leaf_hash, place)
   where log_leaves.leaf_hash = placed.leaf_hash and log_leaves.position is null
   returning log_leaves.position`,
)

const writeTilesStatement = statement<never>(
  'log-write-tiles',
  `insert into log_tiles (level, tile, hashes)
   select level, tile, hashes from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as new (level, tile, hashes)
   on conflict (level, tile) do update set hashes = excluded.hashes`,
)

const growStatement = statement<never>('log-grow', 'update log_tree set size = $1, root = $2')

/** Places the leaves behind the tree that this transaction has locked, and writes the tree that they make. */
export async function growTree(
  tx: Tx,
  oldSize: number,
  leafHashes: readonly Buffer[],
  tiles: readonly Tile[],
  root: Uint8Array,
): Promise<void> {
  const placed = await tx.query(placeStatement, [oldSize, leafHashes])
  if (placed.length !== leafHashes.length) throw new Error(`placed ${placed.length} of ${leafHashes.length} leaves`)
  const columns = [tiles.map(({ level }) => level), tiles.map(({ index }) => index), tiles.map(({ hashes }) => hashes)]
  await tx.query(writeTilesStatement, columns)
  await tx.query(growStatement, [oldSize + leafHashes.length, root])
}

const tileStatement = statement<{ hashes: Buffer }>(
  'log-tile',
  'select substring(hashes for $3::integer * 32) as hashes from log_tiles where level = $1 and tile = $2 and octet_length(hashes) >= $3::integer * 32',
)

/** The first `width` hashes of a tile. undefined: the tree does not have them yet. */
export async function findTile(db: Db, { level, index, width }: TileId): Promise<Buffer | undefined> {
  return (await db.query(tileStatement, [level, index, width]))[0]?.hashes
}

const entriesStatement = statement<{ entry: Buffer }>(
  'log-entries',
  'select entry from log_leaves where position >= $1 and position < $1::bigint + $2::integer order by position',
)

/** The entries from a position on; fewer than `count` at the end of the log. */
export async function listEntries(db: Db, from: number, count: number): Promise<Buffer[]> {
  return (await db.query(entriesStatement, [from, count])).map(({ entry }) => entry)
}

const findLeafStatement = statement<{ entry: Buffer; position: number | null }>(
  'log-find-leaf',
  'select entry, position from log_leaves where leaf_hash = $1',
)

/** The entry with this hash. `position` is undefined while it waits. */
export async function findLeaf(db: Db, leafHash: Buffer): Promise<{ entry: Buffer; position: number | undefined } | undefined> {
  const [row] = await db.query(findLeafStatement, [leafHash])
  return row && { entry: row.entry, position: row.position ?? undefined }
}

const positionStatement = statement<{ position: number }>('log-source', 'select position from log_sources where name = $1')
const advanceStatement = statement<never>(
  'log-source-advance',
  // A process that is behind another one must not move it back.
  `insert into log_sources (name, position) values ($1, $2)
   on conflict (name) do update set position = greatest(log_sources.position, excluded.position)`,
)

/** How far the source has been queued: 0 at first. */
export async function getSourcePosition(db: Db, name: string): Promise<number> {
  return (await db.query(positionStatement, [name]))[0]?.position ?? 0
}

export async function advanceSource(tx: Tx, name: string, position: number): Promise<void> {
  await tx.query(advanceStatement, [name, position])
}
