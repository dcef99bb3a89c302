interface Parts {
  /**
   * Chunks, one after the other. A chunk is valid only until the next one is requested, because all may share one
   * buffer.
   */
  readonly pieces: AsyncIterable<Uint8Array>
  /** How much of it may be in memory at once. */
  readonly bytesHeld: number
  /** Called once it was sent, or the client has disconnected. */
  readonly release: () => void
  /** Aborted when the answer must end early, because its place was given to another. */
  readonly cut: AbortSignal
}

/** An answer that is sent while it is produced. */
export class StreamedAnswer {
  readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }
}
