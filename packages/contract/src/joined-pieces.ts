/**
 * Bytes that arrive in pieces, in one buffer that grows: a piece of one byte takes one byte, where a Buffer for each would
 * take hundreds. Doubling keeps the time linear.
 */
export class JoinedPieces {
  #buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length))
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.#length)
    this.#length = length
  }

  /** Returns all bytes, and begins anew. */
  take(): Buffer {
    const whole = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
    return whole
  }
}

/**
 * Reads a body of at most `maxBytes`, however small its pieces are. undefined: it is longer; its rest is not read, and
 * the stream is ended.
 */
export async function readAtMost(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<Buffer | undefined> {
  const pieces = new JoinedPieces()
  for await (const piece of body ?? []) {
    if (pieces.length + piece.length > maxBytes) return undefined
    pieces.add(piece)
  }
  return pieces.take()
}
