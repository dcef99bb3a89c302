import { decodeHash, encodeBase64 } from '@atrium/log/base64'
import type { Edge } from '@atrium/log/tiles'
import { OperatorError } from '../operator-api.ts'
import { notFollowed, type Followed, type Reading } from './follow-log.ts'
import { readIfThere, replaceFile } from './state-file.ts'

interface StoredHead {
  size: number
  root: string
  checkpoint: string
}

/** The hashes of the partial tiles, by level. */
type StoredEdge = [number, string[]][]

interface StoredState extends StoredHead {
  edge: StoredEdge
  reading?: { head: StoredHead; at: number; edge: StoredEdge }
}

/** Reads how far a monitor has come. Without the file, it begins with the first entry. */
export async function readFollowed(path: string): Promise<Followed> {
  const text = await readIfThere(path)
  if (text === undefined) return notFollowed
  try {
    const { edge, reading, ...head } = JSON.parse(text) as StoredState
    return {
      ...openHead(head),
      edge: openEdge(edge),
      ...(reading && { reading: { head: openHead(reading.head), at: reading.at, edge: openEdge(reading.edge) } }),
    }
  } catch {
    throw new OperatorError(`${path} is not the state of a monitor`)
  }
}

export async function writeFollowed(path: string, { edge, reading, ...head }: Followed): Promise<void> {
  const state: StoredState = {
    ...storedHead(head),
    edge: storedEdge(edge),
    ...(reading && { reading: { head: storedHead(reading.head), at: reading.at, edge: storedEdge(reading.edge) } }),
  }
  await replaceFile(path, `${JSON.stringify(state)}\n`)
}

const openHead = ({ size, root, checkpoint }: StoredHead) => ({ size, root: decodeHash(root, 'the root'), checkpoint })
const openEdge = (edge: StoredEdge): Edge =>
  new Map(edge.map(([level, hashes]) => [level, hashes.map((hash) => decodeHash(hash, 'a hash'))] as const))
const storedHead = ({ size, root, checkpoint }: Reading['head']): StoredHead => ({ size, root: encodeBase64(root), checkpoint })
const storedEdge = (edge: Edge) => [...edge].map(([level, hashes]): [number, string[]] => [level, hashes.map(encodeBase64)])
