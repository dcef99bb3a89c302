import { isSame } from '@atrium/log/bytes'
import { appendLeaves, edgeTiles, readHashes, rootOfEdge, type Edge } from '@atrium/log/tiles'
import type { Database, Tx } from '#db/database.ts'
import { findTile, growTree, listWaitingLeaves, lockTree } from './store.ts'

/**
 * Gives up to `limit` waiting leaves their places in the tree, in one transaction: leaves, tiles and the size change
 * together or not at all. It reads the partial tiles at the edge of the tree and writes those that changed, however
 * long the log is. Returns how many leaves there were.
 */
export async function integrateLeaves(db: Database, limit: number): Promise<number> {
  // Without a lock, because nearly always none waits.
  if ((await listWaitingLeaves(db, 1)).length === 0) return 0
  return db.transaction(async (tx) => {
    const { size, root } = await lockTree(tx)
    const leafHashes = await listWaitingLeaves(tx, limit)
    if (leafHashes.length === 0) return 0
    const edge = await readEdge(tx, size)
    // A damaged tile must not become part of a tree that is signed.
    if (!isSame(rootOfEdge(edge), root)) throw new Error(`the tiles of the log do not have the root of its ${size} leaves`)
    const tiles = appendLeaves(edge, size, leafHashes)
    await growTree(tx, size, leafHashes, tiles, rootOfEdge(edge))
    return leafHashes.length
  })
}

async function readEdge(tx: Tx, size: number): Promise<Edge> {
  const edge: Edge = new Map()
  for (const id of edgeTiles(size)) {
    const tile = await findTile(tx, id)
    if (tile === undefined) throw new Error(`tile ${id.level}/${id.index} of the log is missing`)
    edge.set(id.level, readHashes(tile, id.width))
  }
  return edge
}
