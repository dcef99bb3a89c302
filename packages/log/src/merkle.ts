import { sha256 } from '#crypto'
import { isSame } from './bytes.ts'
import { LogError } from './log-error.ts'

/** The root of the tree without leaves: the hash of nothing (RFC 6962 §2.1). */
export const emptyRoot: Uint8Array = sha256()

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** The hash of a leaf: SHA-256 of 0x00 and the entry (RFC 6962 §2.1). */
export function hashLeaf(entry: Uint8Array): Uint8Array {
  return sha256(leafPrefix, entry)
}

/** The hash of an inner node: SHA-256 of 0x01 and the hashes of its children. */
export function hashChildren(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(nodePrefix, left, right)
}

/** The largest power of two below `count`, which is at least 2: where RFC 6962 splits a tree. */
export function splitPoint(count: number): number {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

/** The root of a few hashes that are in memory, such as those of a tile. */
export function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = hashes
  if (first === undefined) return emptyRoot
  if (others.length === 0) return first
  const split = splitPoint(hashes.length)
  return hashChildren(rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)))
}

const half = (value: number) => Math.floor(value / 2)
const isOdd = (value: number) => value % 2 === 1

export interface Inclusion {
  index: number
  size: number
  root: Uint8Array
  leafHash: Uint8Array
  /** From the leaf's sibling up to the root's child. */
  proof: readonly Uint8Array[]
}

/** Throws LogError unless the leaf is at `index` of the tree with this size and root (RFC 9162 §2.1.3.2). */
export function assertInclusion({ index, size, root, leafHash, proof }: Inclusion): void {
  if (index >= size) throw new LogError(`the tree of ${size} leaves has no leaf ${index}`)
  let at = index
  let last = size - 1
  let hash = leafHash
  for (const sibling of proof) {
    if (last === 0) throw new LogError('the inclusion proof is too long')
    if (isOdd(at) || at === last) {
      hash = hashChildren(sibling, hash)
      // A node without a right sibling is its own parent: it rises until it has a left one.
      while (!isOdd(at) && at !== 0) {
        at = half(at)
        last = half(last)
      }
    } else hash = hashChildren(hash, sibling)
    at = half(at)
    last = half(last)
  }
  if (last !== 0) throw new LogError('the inclusion proof is too short')
  if (!isSame(hash, root)) throw new LogError(`the inclusion proof does not lead from leaf ${index} to the root`)
}

export interface Tree {
  size: number
  root: Uint8Array
}

/** Throws LogError unless the newer tree continues the older one (RFC 9162 §2.1.4.2). */
export function assertConsistency(older: Tree, newer: Tree, proof: readonly Uint8Array[]): void {
  if (older.size > newer.size) throw new LogError(`the log shrank from ${older.size} to ${newer.size} leaves`)
  if (older.size === newer.size || older.size === 0) {
    if (proof.length > 0) throw new LogError('the consistency proof is too long')
    if (older.size === 0 && !isSame(older.root, emptyRoot)) throw new LogError('the root of the empty tree is wrong')
    if (older.size === newer.size && !isSame(older.root, newer.root)) {
      throw new LogError(`the log forked: it has two roots for ${older.size} leaves`)
    }
    return
  }
  let at = older.size - 1
  let last = newer.size - 1
  while (isOdd(at)) {
    at = half(at)
    last = half(last)
  }
  // A complete older tree is itself the first node of the path, and the proof leaves it out.
  const path = at === 0 ? [older.root, ...proof] : proof
  const [first, ...others] = path
  if (first === undefined) throw new LogError('the consistency proof is too short')
  let oldHash = first
  let newHash = first
  for (const node of others) {
    if (last === 0) throw new LogError('the consistency proof is too long')
    if (isOdd(at) || at === last) {
      oldHash = hashChildren(node, oldHash)
      newHash = hashChildren(node, newHash)
      while (!isOdd(at) && at !== 0) {
        at = half(at)
        last = half(last)
      }
    } else newHash = hashChildren(newHash, node)
    at = half(at)
    last = half(last)
  }
  if (last !== 0) throw new LogError('the consistency proof is too short')
  if (!isSame(oldHash, older.root) || !isSame(newHash, newer.root)) {
    throw new LogError(`the log forked: its tree of ${newer.size} leaves does not continue that of ${older.size}`)
  }
}
