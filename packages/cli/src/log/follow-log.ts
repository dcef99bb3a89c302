import { isSame } from '@atrium/log/bytes'
import { decodeBundle } from '@atrium/log/bundle'
import { openCheckpoint, type OpenedCheckpoint } from '@atrium/log/checkpoint'
import { LogError } from '@atrium/log/log-error'
import { hashLeaf } from '@atrium/log/merkle'
import type { Verifier } from '@atrium/log/note'
import { appendLeaves, bundlePath, rootOfEdge, tileWidth, type Edge } from '@atrium/log/tiles'

interface Head {
  size: number
  root: Uint8Array
  /** As the log served it. */
  checkpoint: string
}

/** How far a log has been followed: its last checkpoint, and the edge of the tree, from which the next root is computed. */
export interface Followed extends Head {
  edge: Edge
  /** Set while a look ended before it had read all entries of the next checkpoint. What was read of it is not proved yet. */
  reading?: Reading | undefined
}

export interface Reading {
  head: Head
  /** How many entries of the tree are read. */
  at: number
  edge: Edge
}

export const notFollowed: Followed = { size: 0, root: rootOfEdge(new Map()), checkpoint: '', edge: new Map() }

export interface Progress {
  followed: Followed
  /** The error of a file that could not be read. What was read before it is kept. */
  failure?: unknown
}

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
 * Misbehaviour. `onEntry` is called for entries before the whole is proved. As soon as `isEnough()` is true, it returns
 * how far it came, and the next call continues there: an operator can sign any size, and serve entries without end. It
 * does the same when a file of entries cannot be read; without a checkpoint, it throws the error of `read`.
 */
export async function followLog(
  { read, logKeys }: Source,
  last: Followed,
  onEntry: (entry: LoggedEntry) => void,
  isEnough: () => boolean,
): Promise<Progress> {
  const signed = (await read('checkpoint')).toString()
  const { size, root } = openHead(signed, logKeys)
  const newest: Head = { size, root, checkpoint: signed }
  const lastSize = last.reading?.head.size ?? last.size
  if (size < lastSize) {
    throw new Misbehaviour('rolled_back', `the log shrank from ${lastSize} to ${size} leaves`, signed)
  }
  let followed = last
  // The log signed the head that was being read, too, so it must also be a part of the newest.
  for (const head of last.reading === undefined ? [newest] : [last.reading.head, newest]) {
    const { reading, failure } = await readUpTo(head, followed, { read, onEntry, isEnough })
    if (reading.at < head.size) return { followed: { ...followed, reading }, failure }
    if (!isSame(rootOfEdge(reading.edge), head.root)) {
      throw new Misbehaviour('forked', describeFork(head, followed), head.checkpoint)
    }
    followed = { ...head, edge: reading.edge }
  }
  return { followed }
}

function describeFork(head: Head, { size }: Followed): string {
  const served =
    size === 0
      ? 'the entries that it serves'
      : `the first ${size} entries that this monitor has verified and those that it serves now`
  return (
    `the log forked: it signed a tree of ${head.size} entries that is not the tree of ${served}, so others may be shown ` +
    'other entries. Do not trust what it logs, keep this report, whose checkpoint is the proof, and ask the operator of the log'
  )
}

const copyEdge = (edge: Edge): Edge => new Map([...edge].map(([level, hashes]) => [level, [...hashes]]))

async function readUpTo(
  head: Head,
  followed: Followed,
  { read, onEntry, isEnough }: Pick<Source, 'read'> & { onEntry: (entry: LoggedEntry) => void; isEnough: () => boolean },
): Promise<{ reading: Reading; failure?: unknown }> {
  let { at, edge } = followed.reading ?? { at: followed.size, edge: followed.edge }
  edge = copyEdge(edge)
  while (at < head.size && !isEnough()) {
    const index = Math.floor(at / tileWidth)
    const width = Math.min(tileWidth, head.size - index * tileWidth)
    let bundle: Buffer
    try {
      bundle = await read(bundlePath({ index, width }))
    } catch (failure) {
      // Otherwise each attempt would begin where this one began, and a log that limits requests would never be read.
      return { reading: { head, at, edge }, failure }
    }
    const entries = openBundle(bundle, width).slice(at - index * tileWidth)
    appendLeaves(edge, at, entries.map(hashLeaf))
    for (const [i, bytes] of entries.entries()) onEntry({ index: at + i, bytes })
    at += entries.length
  }
  return { reading: { head, at, edge } }
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
