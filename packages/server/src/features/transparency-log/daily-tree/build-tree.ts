import { randomBytes } from 'node:crypto'
import { proveSum, sumLeaf, SumTreeBuilder, type SumNode } from '@atrium/log/sum-tree'
import type { Db, Tx } from '#db/database.ts'
import type { FoundLeaf, TileLeaves, TileStore } from './tile-store.ts'

/** How long people can get proofs of a day. */
export const proofDays = 7

/** What becomes a leaf, with a salt. The tree is in the order of the keys. */
export interface Entry {
  key: readonly string[]
  name: string
  value: number
}

/** Builds and stores the tree of a day from pages of entries. Memory does not depend on how many there are. */
export async function buildTree(
  tx: Tx,
  tiles: TileStore,
  day: string,
  pages: AsyncIterable<readonly Entry[]>,
): Promise<SumNode & { count: number }> {
  let leaves: TileLeaves = { firstKey: [], names: [], salts: [] }
  const builder = new SumTreeBuilder(async (tile) => {
    if (tile.level > 0) return tiles.insertTile(tx, day, tile)
    await tiles.insertTile(tx, day, tile, leaves)
    leaves = { firstKey: [], names: [], salts: [] }
  })
  let count = 0
  for await (const page of pages) {
    for (const { key, name, value } of page) {
      const salt = randomBytes(32)
      if (leaves.names.length === 0) leaves.firstKey = key
      leaves.names.push(name)
      leaves.salts.push(salt)
      await builder.add(sumLeaf({ account: name, balance: value, salt }))
    }
    count += page.length
  }
  return { ...(await builder.finish()), count }
}

/** The steps from a leaf to the root of its day. */
export async function proveLeaf(db: Db, tiles: TileStore, day: string, count: number, { index }: FoundLeaf) {
  const steps = await proveSum(count, index, async (level, tile) => (await tiles.findNodes(db, day, level, tile)) ?? [])
  return steps.map(({ side, sum, hash }) => ({ side, sum, hash: hash.toString('hex') }))
}
