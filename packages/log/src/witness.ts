import { parseAddCheckpoint } from './add-checkpoint.ts'
import { parseCheckpoint, openCheckpoint, type OpenedCheckpoint } from './checkpoint.ts'
import { LogError } from './log-error.ts'
import { assertConsistency, emptyRoot } from './merkle.ts'
import { parseNote, type Verifier } from './note.ts'

/** What a witness remembers of a log: the tree that it cosigned last. */
export interface WitnessedTree {
  size: number
  root: Uint8Array
}

/** `refused` has the status, the text and the reason of the answer (C2SP tlog-witness). */
export type WitnessDecision =
  | { outcome: 'cosign'; checkpoint: OpenedCheckpoint }
  | { outcome: 'refused'; status: 400 | 403 | 404 | 422; body: string }
  /** The log does not know the size that was cosigned last. The body is that size; only `reason` says what is wrong. */
  | { outcome: 'conflict'; status: 409; body: string; reason: string | undefined }

interface Known {
  logKeys: readonly Verifier[]
  /** The last tree of this origin; undefined if none was cosigned. */
  findTree: (origin: string) => WitnessedTree | undefined
}

const refuse = (status: 400 | 403 | 404 | 422, reason: string): WitnessDecision => ({
  outcome: 'refused',
  status,
  body: `${reason}\n`,
})

/**
 * Decides about the body of add-checkpoint. A checkpoint is cosigned only if its log signed it and it continues what the
 * witness has seen. The caller stores the checkpoint before it answers, and decides about one request at a time.
 */
export function decideAddCheckpoint(body: string, { logKeys, findTree }: Known): WitnessDecision {
  let request: ReturnType<typeof parseAddCheckpoint>
  let origin: string
  try {
    request = parseAddCheckpoint(body)
    ;({ origin } = parseCheckpoint(parseNote(request.checkpoint).text))
  } catch (err) {
    return refuse(isWrongEmptyRoot(err) ? 422 : 400, reasonOf(err))
  }
  if (!logKeys.some(({ name }) => name === origin)) return refuse(404, `the log ${origin} is not known here`)
  let checkpoint: OpenedCheckpoint
  try {
    checkpoint = openCheckpoint(request.checkpoint, logKeys)
  } catch (err) {
    return refuse(403, reasonOf(err))
  }
  if (request.oldSize > checkpoint.size) return refuse(400, 'the old size is above that of the checkpoint')
  const last = findTree(origin) ?? { size: 0, root: emptyRoot }
  if (request.oldSize !== last.size) {
    // An honest log that signed two checkpoints may send the older one last, so this is no proof of misbehaviour.
    const reason =
      checkpoint.size < last.size
        ? `${origin} has ${checkpoint.size} entries, and had ${last.size}: rolled back, or late`
        : undefined
    return { outcome: 'conflict', status: 409, body: `${last.size}\n`, reason }
  }
  try {
    assertConsistency(last, checkpoint, request.proof)
  } catch (err) {
    return refuse(422, reasonOf(err))
  }
  return { outcome: 'cosign', checkpoint }
}

const isWrongEmptyRoot = (err: unknown) => err instanceof LogError && err.message.includes('empty tree')

function reasonOf(err: unknown): string {
  if (err instanceof LogError) return err.message
  throw err
}
