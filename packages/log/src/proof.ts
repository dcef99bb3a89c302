import { decodeBase64, decodeHash, encodeBase64, parseCount } from './base64.ts'
import { openCheckpoint, type OpenedCheckpoint } from './checkpoint.ts'
import { LogError } from './log-error.ts'
import { assertInclusion, hashLeaf } from './merkle.ts'
import type { Verifier } from './note.ts'

/** That an entry is in a log, to be verified offline (C2SP tlog-proof). */
export interface LogProof {
  index: number
  hashes: Uint8Array[]
  /** The signed checkpoint, as it was served. */
  checkpoint: string
  /** Not authenticated by the proof itself. */
  extra?: Uint8Array
}

const header = 'c2sp.org/tlog-proof@v1'
/** A tree below 2^63 leaves is no deeper. */
const maxHashes = 63

export function formatProof({ index, hashes, checkpoint, extra }: LogProof): string {
  const lines = [header]
  if (extra !== undefined) lines.push(`extra ${encodeBase64(extra)}`)
  lines.push(`index ${index}`, ...hashes.map(encodeBase64))
  return `${lines.join('\n')}\n\n${checkpoint}`
}

/** Reads what `formatProof` writes. It verifies nothing. Throws LogError. */
export function parseProof(text: string): LogProof {
  const end = text.indexOf('\n\n')
  if (end === -1) throw new LogError('the proof has no checkpoint')
  const [first, ...lines] = text.slice(0, end).split('\n')
  if (first !== header) throw new LogError(`the proof does not begin with ${header}`)
  const extra = lines[0]?.startsWith('extra ') ? lines.shift()?.slice('extra '.length) : undefined
  const indexLine = lines.shift()
  if (!indexLine?.startsWith('index ')) throw new LogError('the proof does not name an index')
  if (lines.length > maxHashes) throw new LogError('the proof is too long')
  return {
    index: parseCount(indexLine.slice('index '.length), 'the index'),
    hashes: lines.map((line) => decodeHash(line, 'a line of the proof')),
    checkpoint: text.slice(end + 2),
    ...(extra === undefined ? {} : { extra: decodeBase64(extra, 'the extra line') }),
  }
}

/**
 * Verifies that the log with one of these keys contains the entry. Returns the checkpoint, whose cosignatures a policy
 * can judge. Throws LogError.
 */
export function verifyProof(text: string, entry: Uint8Array, logKeys: readonly Verifier[]): OpenedCheckpoint {
  const { index, hashes, checkpoint } = parseProof(text)
  const opened = openCheckpoint(checkpoint, logKeys)
  assertInclusion({ index, size: opened.size, root: opened.root, leafHash: hashLeaf(entry), proof: hashes })
  return opened
}
