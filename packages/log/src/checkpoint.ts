import { decodeHash, encodeBase64, parseCount } from './base64.ts'
import { LogError } from './log-error.ts'
import { isSame, toHex } from './bytes.ts'
import { emptyRoot } from './merkle.ts'
import { isSignedBy, parseNote, type Note, type Verifier } from './note.ts'

/** The head of a log's tree at one size (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** The log's identity: its address without scheme, such as `atrium.example.com/log`. */
  origin: string
  size: number
  root: Uint8Array
}

/** The text that is signed. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${encodeBase64(root)}\n`
}

/** Reads a checkpoint's text. Extension lines are allowed and ignored. Throws LogError. */
export function parseCheckpoint(text: string): Checkpoint {
  if (!text.endsWith('\n')) throw new LogError('the checkpoint does not end in a newline')
  const lines = text.slice(0, -1).split('\n')
  const [origin, sizeText, rootText] = lines
  if (origin === undefined || sizeText === undefined || rootText === undefined || lines.includes('')) {
    throw new LogError('a checkpoint has the lines origin, size and root')
  }
  const checkpoint = { origin, size: parseCount(sizeText, 'the size'), root: decodeHash(rootText, 'the root') }
  if (checkpoint.size === 0 && !isSame(checkpoint.root, emptyRoot)) {
    throw new LogError('the root of the empty tree is wrong')
  }
  return checkpoint
}

export interface OpenedCheckpoint extends Checkpoint {
  note: Note
}

/** Reads a signed checkpoint and checks that one of the log's keys signed it. Throws LogError. */
export function openCheckpoint(signed: string, logKeys: readonly Verifier[]): OpenedCheckpoint {
  const note = parseNote(signed)
  const checkpoint = parseCheckpoint(note.text)
  const keys = logKeys.filter(({ name }) => name === checkpoint.origin)
  if (keys.length === 0) throw new LogError(`the checkpoint is of another log, ${checkpoint.origin}`)
  // Every key is tried, so that one wrong signature of a known key refuses the note.
  if (!keys.map((key) => isSignedBy(note, key)).includes(true)) {
    const known = keys.map(({ keyId }) => toHex(keyId))
    const named = note.signatures.filter(({ name }) => name === checkpoint.origin).map(({ keyId }) => toHex(keyId))
    const signers = named.filter((keyId) => !known.includes(keyId)).join(', ')
    const hint =
      signers && `, but it names ${signers}: if the operator has rotated the key, ask people you trust for its new verifier key`
    throw new LogError(`the checkpoint of ${checkpoint.origin} is not signed by its key ${known.join(', ')}${hint}`)
  }
  return { ...checkpoint, note }
}
