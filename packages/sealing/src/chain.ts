import { DamagedLine } from './damaged-line.ts'
import { parseLine, type Position } from './line.ts'

/** What is known before the lines are checked. */
export interface ChainStart {
  /** The number that the first line must have. */
  readonly fromSeq: number
  /** The hash of the line before it; required for every start but 0. */
  readonly prev?: string | undefined
  /**
   * The hash that the last line must have; without lines, `prev` must be it. If it is absent, lines may be missing
   * at the end.
   */
  readonly etag?: string | undefined
}

export interface Break {
  /** The number that the line at the break should have. */
  readonly seq: number
  /**
   * form: it is not a line. seq: it has another number. prev: it does not follow the line before, so one of the two
   * was altered. etag: the lines form a chain, but do not end with the expected line.
   */
  readonly problem: 'form' | 'seq' | 'prev' | 'etag'
}

/**
 * Returns the first break of the chain, or undefined. `hashes` are those of `lines`, one for one, from the
 * platform's `lineHash`: see `checkChain` of node-lines.ts and web-lines.ts. It needs no key; whether each line is
 * authentic is checked by opening it.
 */
export function findBreak(lines: readonly string[], hashes: readonly string[], start: ChainStart): Break | undefined {
  let seq = start.fromSeq
  let { prev } = start
  for (const [i, line] of lines.entries()) {
    const position = findPosition(line)
    if (!position) return { seq, problem: 'form' }
    if (position.seq !== seq) return { seq, problem: 'seq' }
    if (position.prev !== prev) return { seq, problem: 'prev' }
    prev = hashes[i]
    seq++
  }
  const endsRight = start.etag === undefined || start.etag === prev
  return endsRight ? undefined : { seq: lines.length > 0 ? seq - 1 : seq, problem: 'etag' }
}

function findPosition(line: string): Position | undefined {
  try {
    return parseLine(line)
  } catch (error) {
    if (error instanceof DamagedLine) return undefined
    throw error
  }
}
