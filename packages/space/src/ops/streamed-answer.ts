/** An answer that is sent while it is made. */
export class StreamedAnswer {
  /** One after the other: a piece holds only until the next one is asked for, since all may share the same memory. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** What of it may be in memory at once. */
  readonly bytesHeld: number
  /** Called once it has gone out, or nobody waits for it any more. */
  readonly release: () => void
  /** Aborted when it must end early: its place went to another. */
  readonly cut: AbortSignal

  constructor(answer: Pick<StreamedAnswer, 'pieces' | 'bytesHeld' | 'release' | 'cut'>) {
    this.pieces = answer.pieces
    this.bytesHeld = answer.bytesHeld
    this.release = answer.release
    this.cut = answer.cut
  }
}
