import { decodeHash, encodeBase64, parseCount } from './base64.ts'
import { LogError } from './log-error.ts'

/** The body of a witness's add-checkpoint (C2SP tlog-witness). */
export interface AddCheckpoint {
  /** The size of the checkpoint that the witness cosigned last; 0 for none. */
  oldSize: number
  /** From that size to the checkpoint's. */
  proof: Uint8Array[]
  /** Signed by the log. */
  checkpoint: string
}

const maxHashes = 63

export function formatAddCheckpoint({ oldSize, proof, checkpoint }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${encodeBase64(hash)}\n`).join('')}\n${checkpoint}`
}

/** Throws LogError. */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n')
  if (end === -1) throw new LogError('the body has no checkpoint')
  const [first, ...lines] = body.slice(0, end).split('\n')
  if (!first?.startsWith('old ')) throw new LogError('the body does not begin with the old size')
  if (lines.length > maxHashes) throw new LogError('the consistency proof is too long')
  return {
    oldSize: parseCount(first.slice('old '.length), 'the old size'),
    proof: lines.map((line) => decodeHash(line, 'a line of the proof')),
    checkpoint: body.slice(end + 2),
  }
}
