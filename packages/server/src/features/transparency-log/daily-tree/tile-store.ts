import { sumTileWidth, type SumNode, type SumTile } from '@atrium/log/sum-tree'
import { statement, type Db, type Tx } from '#db/database.ts'

const snapshotStatement = statement<never>('daily-tree-snapshot', 'set transaction isolation level repeatable read')

/** All statements of the transaction see the database at one moment. */
export async function takeSnapshot(tx: Tx): Promise<void> {
  await tx.query(snapshotStatement, [])
}

/** Where the tiles of a tree are that is made once a day. */
export interface TileTable {
  table: string
  /** The column with the names of the leaves of a tile. */
  names: string
  /** The columns with the key of its first leaf. */
  firstKey: readonly string[]
}

/** What a tile of level 0 also has, in the order of the keys. */
export interface TileLeaves {
  firstKey: readonly string[]
  names: string[]
  salts: Buffer[]
}

/** A leaf, with where it is. */
export interface FoundLeaf {
  name: string
  value: number
  salt: Buffer
  index: number
}

const saltBytes = 32

/** Stores the tiles of a tree for each day. */
export class TileStore {
  readonly #write
  readonly #read
  readonly #readLeaf
  readonly #forget
  readonly #noLeaves: readonly null[]

  constructor({ table, names, firstKey }: TileTable) {
    this.#noLeaves = [null, null, ...firstKey.map(() => null)]
    const places = (from: number) => firstKey.map((_, i) => `$${from + i}`).join(', ')
    this.#write = statement<never>(
      `${table}-write`,
      `insert into ${table} (day, level, tile, nodes, salts, ${names}, ${firstKey.join(', ')})
       values ($1, $2, $3, $4, $5, $6, ${places(7)})`,
    )
    this.#read = statement<{ nodes: Buffer }>(
      `${table}-read`,
      `select nodes from ${table} where day = $1 and level = $2 and tile = $3`,
    )
    this.#readLeaf = statement<{ tile: number; nodes: Buffer; salts: Buffer; names: string[] }>(
      `${table}-read-leaf`,
      `select tile, nodes, salts, ${names} as names from ${table}
       where day = $1 and level = 0 and (${firstKey.join(', ')}) <= (${places(2)})
       order by ${firstKey.map((column) => `${column} desc`).join(', ')} limit 1`,
    )
    this.#forget = statement<{ day: string }>(
      `${table}-forget`,
      `delete from ${table} where ctid = any (array(
         select ctid from ${table} where day < (now() at time zone 'utc')::date - $1::integer limit $2))
       returning to_char(day, 'YYYY-MM-DD') as day`,
    )
  }

  /** `leaves` of a tile of level 0. */
  async insertTile(tx: Tx, day: string, { level, index, nodes }: SumTile, leaves?: TileLeaves): Promise<void> {
    const bytes = Buffer.concat(nodes.map(encodeNode))
    const columns = leaves ? [Buffer.concat(leaves.salts), leaves.names, ...leaves.firstKey] : this.#noLeaves
    await tx.query(this.#write, [day, level, index, bytes, ...columns])
  }

  async findNodes(db: Db, day: string, level: number, tile: number): Promise<SumNode[] | undefined> {
    const [row] = await db.query(this.#read, [day, level, tile])
    return row && decodeNodes(row.nodes)
  }

  /** undefined: no leaf has this key and such a name, or the tiles of that day are deleted. */
  async findLeaf(
    db: Db,
    day: string,
    key: readonly string[],
    isWanted: (name: string) => boolean,
  ): Promise<FoundLeaf | undefined> {
    const [row] = await db.query(this.#readLeaf, [day, ...key])
    const place = row?.names.findIndex(isWanted) ?? -1
    const name = row?.names[place]
    const node = row && decodeNodes(row.nodes)[place]
    if (!row || !node || name === undefined) return undefined
    const salt = row.salts.subarray(place * saltBytes, (place + 1) * saltBytes)
    return { name, value: node.sum, salt, index: row.tile * sumTileWidth + place }
  }

  /** Deletes the tiles that are older than some days, up to 1,000 at a time. */
  async deleteOldTiles(db: Db, days: number): Promise<void> {
    while ((await db.query(this.#forget, [days, tilesAtOnce])).length === tilesAtOnce);
  }
}

const tilesAtOnce = 1_000
const nodeBytes = 40
const sumBytes = 8

function encodeNode({ sum, hash }: SumNode): Buffer {
  const bytes = Buffer.alloc(sumBytes)
  bytes.writeBigUInt64BE(BigInt(sum))
  return Buffer.concat([bytes, hash])
}

function decodeNodes(bytes: Buffer): SumNode[] {
  return Array.from({ length: bytes.length / nodeBytes }, (_, i) => {
    const node = bytes.subarray(i * nodeBytes, (i + 1) * nodeBytes)
    return { sum: Number(node.readBigUInt64BE()), hash: node.subarray(sumBytes) }
  })
}
