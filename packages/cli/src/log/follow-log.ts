import { isSame } from '@atrium/log/bytes'
import { decodeBundle } from '@atrium/log/bundle'
import { openCheckpoint, type OpenedCheckpoint } from '@atrium/log/checkpoint'
import { LogError } from '@atrium/log/log-error'
import { hashLeaf } from '@atrium/log/merkle'
import type { Verifier } from '@atrium/log/note'
import { appendLeaves, bundlePath, rootOfEdge, tileWidth, type Edge } from '@atrium/log/tiles'

/** How far a log has been followed: its last checkpoint, and the edge of the tree, from which the next root is computed. */
export interface Followed {
  size: number
  root: Uint8Array
  /** As the log served it. */
  checkpoint: string
  edge: Edge
}

export const notFollowed: Followed = { size: 0, root: rootOfEdge(new Map()), checkpoint: '', edge: new Map() }

export interface LoggedEntry {
  index: number
  bytes: Buffer
}

interface Source {
  /** Gets a file below the log's address. Throws if it cannot. */
  read: (path: string) => Promise<Buffer>
  logKeys: readonly Verifier[]
}

/** What a log did that no honest log does. */
export class Misbehaviour extends Error {
  override name = 'Misbehaviour'
  readonly kind: 'invalid' | 'forked' | 'rolled_back'
  /** The checkpoint that proves it, if it has the log's signature. */
  readonly proof: string | undefined

  constructor(kind: Misbehaviour['kind'], message: string, proof?: string) {
    super(message)
    this.kind = kind
    this.proof = proof
  }
}

/**
 * Reads the entries after those that were followed, and checks that the log's new checkpoint is of exactly the old
 * leaves and these. Each bundle is read and hashed by itself, so that memory does not grow with the log. Throws
 * Misbehaviour. `onEntry` is called for entries before the whole is proved.
 */
export async function followLog(
  { read, logKeys }: Source,
  last: Followed,
  onEntry: (entry: LoggedEntry) => void,
): Promise<Followed> {
  const signed = (await read('checkpoint')).toString()
  const head = openHead(signed, logKeys)
  if (head.size < last.size) {
    throw new Misbehaviour('rolled_back', `the log shrank from ${last.size} to ${head.size} leaves`, signed)
  }
  const edge: Edge = new Map([...last.edge].map(([level, hashes]) => [level, [...hashes]]))
  for (let at = last.size; at < head.size;) {
    const index = Math.floor(at / tileWidth)
    const width = Math.min(tileWidth, head.size - index * tileWidth)
    const entries = openBundle(await read(bundlePath({ index, width })), width).slice(at - index * tileWidth)
    appendLeaves(edge, at, entries.map(hashLeaf))
    for (const [i, bytes] of entries.entries()) onEntry({ index: at + i, bytes })
    at += entries.length
  }
  if (!isSame(rootOfEdge(edge), head.root)) {
    const message = `the log forked: its tree of ${head.size} leaves is not that of ${last.size} leaves with the entries after them`
    throw new Misbehaviour('forked', message, signed)
  }
  return { size: head.size, root: head.root, checkpoint: signed, edge }
}

function openHead(signed: string, logKeys: readonly Verifier[]): OpenedCheckpoint {
  try {
    return openCheckpoint(signed, logKeys)
  } catch (error) {
    throw error instanceof LogError ? new Misbehaviour('invalid', error.message) : error
  }
}

function openBundle(bytes: Buffer, width: number): Buffer[] {
  try {
    return decodeBundle(bytes, width)
  } catch (error) {
    throw error instanceof LogError ? new Misbehaviour('invalid', error.message) : error
  }
}
