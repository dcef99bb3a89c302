import type { Entry } from './space-ops.ts'

/**
 * What a reader found wrong.
 * form: a line is none. number: a line has another number than its place. chain: a line does not follow the line before.
 * end: the lines do not end with the etag of the answer. count: the answer counts other lines than it has.
 * rewritten: lines that were read before are gone, or others. sealed: the room key does not open a line, or it was sealed
 * for another room. ahead: its author had seen a line that does not come before it. fork: its author had seen another
 * line in that place. replay: a message appears twice. record: what was sealed is none. policy: line 0 is no policy, or a
 * later line is one that it may not be.
 * In a room with a list of devices also: signature: a line is not signed by the device that it names. author: that device
 * was not on the list. recipients: the list was not sealed to exactly its devices. key: a room key is not the one of which
 * the owner has signed the access key.
 */
export type TamperProblem =
  | 'form'
  | 'number'
  | 'chain'
  | 'end'
  | 'count'
  | 'rewritten'
  | 'sealed'
  | 'ahead'
  | 'fork'
  | 'replay'
  | 'record'
  | 'policy'
  | 'signature'
  | 'author'
  | 'recipients'
  | 'key'

/** What was right with a page before the line that is wrong. */
export type CorrectBeginning = Pick<TamperedRoomError, 'entries' | 'isContinued'>

const nothing: CorrectBeginning = { entries: [], isContinued: false }

/** The room is not what its authors wrote: the service, or somebody with the link, has changed it. */
export class TamperedRoomError extends Error {
  override readonly name = 'TamperedRoomError'
  readonly problem: TamperProblem
  /** The number of the line; of `rewritten`, how many were read; of `count` and `end`, the last line of the page. */
  readonly seq: number
  /** Whether the page continues what was read before it. */
  readonly isContinued: boolean
  /** Not enumerable: a log of this error has no messages in it. */
  readonly #entries: readonly Entry[]

  constructor(problem: TamperProblem, seq: number, { entries, isContinued }: CorrectBeginning = nothing) {
    super(`line ${seq}: ${problem}`)
    this.problem = problem
    this.seq = seq
    this.#entries = entries
    this.isContinued = isContinued
  }

  /** The messages before that line that the call would have returned. They have passed every check. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** The same error with other messages. */
  with(entries: readonly Entry[]): TamperedRoomError {
    return new TamperedRoomError(this.problem, this.seq, { entries, isContinued: this.isContinued })
  }
}
