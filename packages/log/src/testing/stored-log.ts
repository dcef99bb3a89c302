import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { encodeBundle } from '../bundle.ts'
import { hashChildren, hashLeaf } from '../merkle.ts'
import { appendLeaves, bundlePath, rootOfEdge, tilePath, tileWidth, type Edge } from '../tiles.ts'
import type { ReadTile } from '../tree.ts'

/** The root as RFC 6962 §2.1 defines it, to compare with. */
export function rootByDefinition(entries: readonly Uint8Array[]): Uint8Array {
  const [only] = entries
  if (only === undefined) return new Uint8Array(createHash('sha256').digest())
  if (entries.length === 1) return hashLeaf(only)
  let split = 1
  while (split * 2 < entries.length) split *= 2
  return hashChildren(rootByDefinition(entries.slice(0, split)), rootByDefinition(entries.slice(split)))
}

/** A log in memory, which can be written as the files that a log serves. */
export class StoredLog {
  readonly entries: Buffer[] = []
  readonly tiles = new Map<string, Uint8Array>()
  readonly #edge: Edge = new Map()

  get size(): number {
    return this.entries.length
  }

  append(entries: readonly Buffer[]): void {
    for (const tile of appendLeaves(this.#edge, this.size, entries.map(hashLeaf))) {
      this.tiles.set(tilePath(tile), tile.hashes)
    }
    this.entries.push(...entries)
  }

  root(): Uint8Array {
    return rootOfEdge(this.#edge)
  }

  readonly read: ReadTile = async (id) => {
    const tile = this.tiles.get(tilePath(id))
    if (tile === undefined) throw new Error(`no ${tilePath(id)}`)
    return tile
  }

  writeTo(folder: string): void {
    const write = (path: string, bytes: Uint8Array) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), bytes)
    }
    for (const [path, hashes] of this.tiles) write(path, hashes)
    for (let index = 0; index * tileWidth < this.size; index++) {
      const bundle = this.entries.slice(index * tileWidth, (index + 1) * tileWidth)
      write(bundlePath({ index, width: bundle.length }), encodeBundle(bundle))
    }
  }
}

/** Entries that differ. */
export const makeEntries = (count: number, from = 0) => Array.from({ length: count }, (_, i) => Buffer.from(`entry ${from + i}`))
