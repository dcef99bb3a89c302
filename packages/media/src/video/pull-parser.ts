/** What a parser needs next: a number of bytes to read, or to skip. */
export type Want = { take: number } | { skip: number }

/** A generator that asks for bytes in order, and returns its result. */
export type Parser<T> = Generator<Want, T, Buffer>

const nothing = Buffer.alloc(0)

/** Runs a parser on a file that arrives chunk by chunk and is never in memory as a whole. */
export class PullParser<T> {
  readonly #parser: Parser<T>
  #step: IteratorResult<Want, T>
  #taken: Buffer[] = []
  #missing = 0

  constructor(parser: Parser<T>) {
    this.#parser = parser
    this.#step = parser.next(nothing)
    this.#expect()
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#step.done;) {
      const part = chunk.subarray(at, at + this.#missing)
      // Copied, because the memory of the chunk is freed.
      if ('take' in this.#step.value) this.#taken.push(Buffer.from(part))
      at += part.length
      this.#missing -= part.length
      this.#advance()
    }
  }

  /** The result; undefined if the file ended before the parser did. */
  end(): T | undefined {
    return this.#step.done ? this.#step.value : undefined
  }

  #advance(): void {
    while (this.#missing === 0 && !this.#step.done) {
      const taken = Buffer.concat(this.#taken)
      this.#taken = []
      this.#step = this.#parser.next(taken)
      this.#expect()
    }
  }

  #expect(): void {
    if (this.#step.done) return
    this.#missing = 'take' in this.#step.value ? this.#step.value.take : this.#step.value.skip
  }
}
