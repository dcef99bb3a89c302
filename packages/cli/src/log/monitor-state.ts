import { decodeHash, encodeBase64 } from '@atrium/log/base64'
import { OperatorError } from '../operator-api.ts'
import { notFollowed, type Followed } from './follow-log.ts'
import { readIfThere, replaceFile } from './state-file.ts'

interface StoredState {
  size: number
  root: string
  checkpoint: string
  /** The hashes of the partial tiles, by level. */
  edge: [number, string[]][]
}

/** Reads how far a monitor has come. Without the file, it begins with the first entry. */
export async function readFollowed(path: string): Promise<Followed> {
  const text = await readIfThere(path)
  if (text === undefined) return notFollowed
  try {
    const { size, root, checkpoint, edge } = JSON.parse(text) as StoredState
    const levels = edge.map(([level, hashes]) => [level, hashes.map((hash) => decodeHash(hash, 'a hash'))] as const)
    return { size, root: decodeHash(root, 'the root'), checkpoint, edge: new Map(levels) }
  } catch {
    throw new OperatorError(`${path} is not the state of a monitor`)
  }
}

export async function writeFollowed(path: string, { size, root, checkpoint, edge }: Followed): Promise<void> {
  const levels = [...edge].map(([level, hashes]): [number, string[]] => [level, hashes.map(encodeBase64)])
  const state: StoredState = { size, root: encodeBase64(root), checkpoint, edge: levels }
  await replaceFile(path, `${JSON.stringify(state)}\n`)
}
