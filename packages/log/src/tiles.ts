import { joinBytes } from './bytes.ts'
import { LogError } from './log-error.ts'
import { emptyRoot, hashChildren, rootOf } from './merkle.ts'

/** Hashes in a full tile: it spans eight levels of the tree (C2SP tlog-tiles). */
export const tileWidth = 256
const hashBytes = 32

/** A tile of the tree: `level` 0 has the leaves' hashes, each level above has the roots of full tiles below. */
export interface TileId {
  level: number
  index: number
  /** 1 to 256. Below 256, the tile is partial. */
  width: number
}

/** A bundle of log entries spans the same leaves as a tile of level 0. */
export type BundleId = Omit<TileId, 'level'>

function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/[0-9]{3}/g) ?? []
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/')
}

const widthPath = (width: number) => (width === tileWidth ? '' : `.p/${width}`)

/** Such as `tile/0/x001/x234/067.p/8`. */
export const tilePath = ({ level, index, width }: TileId) => `tile/${level}/${indexPath(index)}${widthPath(width)}`

/** Such as `tile/entries/000`. */
export const bundlePath = ({ index, width }: BundleId) => `tile/entries/${indexPath(index)}${widthPath(width)}`

const path = /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,4}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/

/** Reads what `tilePath` and `bundlePath` write. Undefined: it is neither; each tile has one path. */
export function parseTilePath(text: string): TileId | (BundleId & { level: 'entries' }) | undefined {
  const [, head, digits, widthText] = path.exec(text) ?? []
  if (head === undefined || digits === undefined) return undefined
  const index = Number(digits.replaceAll(/[x/]/g, ''))
  const width = widthText === undefined ? tileWidth : Number(widthText)
  if (width > tileWidth) return undefined
  if (head === 'entries') {
    const id = { level: 'entries', index, width } as const
    return bundlePath(id) === text ? id : undefined
  }
  const id = { level: Number(head), index, width }
  return id.level <= 63 && tilePath(id) === text ? id : undefined
}

/** How many hashes of this level the tree of `size` leaves has. */
const hashesAt = (level: number, size: number) => Math.floor(size / tileWidth ** level)

/** The width of a tile in the tree of `size` leaves; 0 if the tree does not have it. */
export function widthIn(size: number, level: number, index: number): number {
  return Math.max(0, Math.min(tileWidth, hashesAt(level, size) - index * tileWidth))
}

/** The hashes of a tile. Throws LogError if it does not have `width` of them. */
export function readHashes(tile: Uint8Array, width: number): Uint8Array[] {
  if (tile.length !== width * hashBytes) throw new LogError(`a tile of ${width} hashes has ${tile.length} bytes`)
  return Array.from({ length: width }, (_, i) => tile.subarray(i * hashBytes, (i + 1) * hashBytes))
}

export interface Tile extends TileId {
  hashes: Uint8Array
}

/** The partial tiles at the right edge of a tree, by level. They are all that is needed to append to it. */
export type Edge = Map<number, Uint8Array[]>

/** The tiles of which the edge of a tree of `size` leaves consists. */
export function edgeTiles(size: number): TileId[] {
  const ids: TileId[] = []
  for (let level = 0; hashesAt(level, size) > 0; level++) {
    const index = Math.floor(hashesAt(level, size) / tileWidth)
    const width = widthIn(size, level, index)
    if (width > 0) ids.push({ level, index, width })
  }
  return ids
}

/**
 * Appends leaves to a tree of `size` leaves: returns each tile that is full or at the edge afterwards, and moves
 * `edge` on. It holds no more than the tiles that it returns and one tile for each level.
 */
export function appendLeaves(edge: Edge, size: number, leafHashes: readonly Uint8Array[]): Tile[] {
  const tiles: Tile[] = []
  const write = (level: number, count: number, hashes: Uint8Array[]) =>
    tiles.push({ level, index: Math.ceil(count / tileWidth) - 1, width: hashes.length, hashes: joinBytes(...hashes) })
  const changed = new Set<number>()
  const push = (level: number, hash: Uint8Array, count: number) => {
    const hashes = edge.get(level) ?? []
    hashes.push(hash)
    edge.set(level, hashes)
    changed.add(level)
    if (hashes.length < tileWidth) return
    write(level, count, hashes)
    edge.delete(level)
    changed.delete(level)
    push(level + 1, rootOf(hashes), count / tileWidth)
  }
  leafHashes.forEach((hash, i) => push(0, hash, size + i + 1))
  const newSize = size + leafHashes.length
  for (const level of changed) write(level, hashesAt(level, newSize), edge.get(level) ?? [])
  return tiles
}

/** The root of the tree with this edge: its complete subtrees, largest first, combined from the right. */
export function rootOfEdge(edge: Edge): Uint8Array {
  const subtrees: Uint8Array[] = []
  for (const [, hashes] of [...edge].sort(([a], [b]) => b - a)) {
    for (let taken = 0, count = tileWidth / 2; count >= 1; count /= 2) {
      if (Math.floor(hashes.length / count) % 2 === 0) continue
      subtrees.push(rootOf(hashes.slice(taken, taken + count)))
      taken += count
    }
  }
  const smallest = subtrees.pop()
  if (smallest === undefined) return emptyRoot
  return subtrees.reduceRight((right, left) => hashChildren(left, right), smallest)
}
