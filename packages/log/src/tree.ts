import { LogError } from './log-error.ts'
import { hashChildren, rootOf, splitPoint } from './merkle.ts'
import { readHashes, tileWidth, widthIn, type TileId } from './tiles.ts'

/** Gets the content of a tile: from a database, a folder or a log's address. */
export type ReadTile = (id: TileId) => Promise<Uint8Array>

/**
 * The tree of the first `size` leaves of a log, read from tiles. Each method reads a few tiles for each 256-fold of
 * the size. Whoever does not trust the source of the tiles checks the result against a signed root.
 */
export class Tree {
  readonly size: number
  readonly #read: ReadTile
  readonly #tiles = new Map<string, Promise<Uint8Array[]>>()

  constructor(size: number, read: ReadTile) {
    this.size = size
    this.#read = read
  }

  /** The root of the first `size` leaves. */
  async root(size = this.size): Promise<Uint8Array> {
    return size === 0 ? rootOf([]) : await this.#hash(0, size)
  }

  /** The hashes that `assertInclusion` takes, for this tree. */
  async inclusionProof(index: number): Promise<Uint8Array[]> {
    if (index >= this.size) throw new LogError(`the tree of ${this.size} leaves has no leaf ${index}`)
    const path: Uint8Array[] = []
    let [start, end] = [0, this.size]
    while (end - start > 1) {
      const split = start + splitPoint(end - start)
      if (index < split) {
        path.push(await this.#hash(split, end))
        end = split
      } else {
        path.push(await this.#hash(start, split))
        start = split
      }
    }
    return path.reverse()
  }

  /** The hashes that `assertConsistency` takes, from the tree of the first `oldSize` leaves to this one. */
  async consistencyProof(oldSize: number): Promise<Uint8Array[]> {
    if (oldSize > this.size) throw new LogError(`the tree of ${this.size} leaves is smaller than ${oldSize}`)
    if (oldSize === 0 || oldSize === this.size) return []
    const path: Uint8Array[] = []
    let [start, end] = [0, this.size]
    // The older tree is a prefix of this one until it is a complete subtree, whose root the verifier may have.
    while (end !== oldSize) {
      const split = start + splitPoint(end - start)
      if (oldSize <= split) {
        path.push(await this.#hash(split, end))
        end = split
      } else {
        path.push(await this.#hash(start, split))
        start = split
      }
    }
    if (start > 0) path.push(await this.#hash(start, end))
    return path.reverse()
  }

  /** The hash of the leaves from `start` up to and without `end`, a node of this tree or of one of its prefixes. */
  async #hash(start: number, end: number): Promise<Uint8Array> {
    const count = end - start
    if (!isPowerOfTwo(count)) {
      const split = start + splitPoint(count)
      return hashChildren(await this.#hash(start, split), await this.#hash(split, end))
    }
    let level = 0
    let span = 1
    while (span * tileWidth <= count) {
      span *= tileWidth
      level++
    }
    const first = start / span
    const tile = await this.#tile(level, Math.floor(first / tileWidth))
    const offset = first % tileWidth
    return rootOf(tile.slice(offset, offset + count / span))
  }

  #tile(level: number, index: number): Promise<Uint8Array[]> {
    const key = `${level}/${index}`
    const found = this.#tiles.get(key)
    if (found !== undefined) return found
    const width = widthIn(this.size, level, index)
    const tile = this.#read({ level, index, width }).then((bytes) => readHashes(bytes, width))
    this.#tiles.set(key, tile)
    return tile
  }
}

function isPowerOfTwo(count: number): boolean {
  let power = 1
  while (power < count) power *= 2
  return power === count
}
