import { hash } from 'node:crypto'

/** A node of a Merkle tree of sums: what the leaves below it add up to, and a hash that commits to them. */
export interface SumNode {
  sum: number
  hash: Buffer
}

export interface SumLeaf {
  account: string
  balance: number
  /** 32 random bytes. A proof shows the sibling of its leaf, and nobody can tell whose it is without the salt. */
  salt: Uint8Array
}

const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

/** The leaf of an account: SHA-256 of 0x00, the salt, the balance in 64 bits, and the account's name. */
export function sumLeaf({ account, balance, salt }: SumLeaf): SumNode {
  return { sum: balance, hash: sha256(leafPrefix, salt, in64Bits(balance), Buffer.from(account)) }
}

/** The parent of two nodes: the sum of both, and SHA-256 of 0x01 and of sum and hash of each. */
export function joinSums(left: SumNode, right: SumNode): SumNode {
  const bytes = [nodePrefix, in64Bits(left.sum), left.hash, in64Bits(right.sum), right.hash]
  return { sum: assertSum(left.sum + right.sum), hash: sha256(...bytes) }
}

const sha256 = (...parts: Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer')

function in64Bits(sum: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(Math.floor(assertSum(sum) / 2 ** 32), 0)
  bytes.writeUInt32BE(sum % 2 ** 32, 4)
  return bytes
}

/** A negative sum would hide what is owed, and one beyond 2^53 is not exact. */
function assertSum(sum: number): number {
  if (!Number.isSafeInteger(sum) || sum < 0) throw new RangeError(`${sum} is no sum of balances`)
  return sum
}

/** Nodes of one level that are stored together. */
export const sumTileWidth = 256

export interface SumTile {
  level: number
  index: number
  nodes: SumNode[]
}

/** The parents of a level. A last node without a right sibling is its own parent, as in RFC 6962. */
function parentsOf(nodes: readonly SumNode[]): SumNode[] {
  return nodes.flatMap((left, i) => {
    if (i % 2 === 1) return []
    const right = nodes[i + 1]
    return [right === undefined ? left : joinSums(left, right)]
  })
}

function rootOfNodes(nodes: readonly SumNode[]): SumNode {
  let level = nodes
  while (level.length > 1) level = parentsOf(level)
  const [root] = level
  if (root === undefined) throw new Error('a tile has no nodes')
  return root
}

/** The root of a tree without leaves. */
export const emptySum: SumNode = { sum: 0, hash: hash('sha256', '', 'buffer') }

/**
 * Builds a tree leaf by leaf. It holds one tile of each level, however many leaves there are: level 0 has the leaves,
 * and a node of each further level is the root of a tile of the level below.
 */
export class SumTreeBuilder {
  readonly #levels: { index: number; nodes: SumNode[] }[] = []
  readonly #write: (tile: SumTile) => Promise<void>

  constructor(write: (tile: SumTile) => Promise<void>) {
    this.#write = write
  }

  /** How many nodes are held. */
  get held(): number {
    return this.#levels.reduce((count, { nodes }) => count + nodes.length, 0)
  }

  async add(node: SumNode, level = 0): Promise<void> {
    const tile = (this.#levels[level] ??= { index: 0, nodes: [] })
    tile.nodes.push(node)
    if (tile.nodes.length === sumTileWidth) await this.#close(level, tile)
  }

  /** Writes the partial tiles. Returns the root. */
  async finish(): Promise<SumNode> {
    // Closing a level may add the one above it, which is visited next.
    for (const [level, tile] of this.#levels.entries()) {
      const isTop = level === this.#levels.length - 1
      const [first] = tile.nodes
      if (isTop && level > 0 && tile.index === 0 && tile.nodes.length === 1 && first) return first
      if (first) await this.#close(level, tile)
    }
    return emptySum
  }

  async #close(level: number, { index, nodes }: { index: number; nodes: SumNode[] }): Promise<void> {
    await this.#write({ level, index, nodes })
    const root = rootOfNodes(nodes)
    this.#levels[level] = { index: index + 1, nodes: [] }
    await this.add(root, level + 1)
  }
}

/** A node beside the path from a leaf to the root, and on which side it is. */
export interface SumStep extends SumNode {
  side: 'left' | 'right'
}

export type ReadSumTile = (level: number, index: number) => Promise<readonly SumNode[]>

/** The steps from a leaf of a tree with `count` leaves up to its root. Reads one tile for each 256-fold of the count. */
export async function proveSum(count: number, index: number, readTile: ReadSumTile): Promise<SumStep[]> {
  const steps: SumStep[] = []
  let at = index
  let width = count
  for (let level = 0; width > 1; level++) {
    let nodes: readonly SumNode[] = await readTile(level, Math.floor(at / sumTileWidth))
    let place = at % sumTileWidth
    while (nodes.length > 1) {
      const sibling = nodes[place ^ 1]
      if (sibling !== undefined) steps.push({ side: place % 2 === 1 ? 'left' : 'right', ...sibling })
      nodes = parentsOf(nodes)
      place = Math.floor(place / 2)
    }
    at = Math.floor(at / sumTileWidth)
    width = Math.ceil(width / sumTileWidth)
  }
  return steps
}

/** The root to which the steps lead from a leaf. Throws RangeError for a sum that is negative or not exact. */
export function followSteps(leaf: SumNode, steps: readonly SumStep[]): SumNode {
  return steps.reduce((node, step) => (step.side === 'left' ? joinSums(step, node) : joinSums(node, step)), leaf)
}
