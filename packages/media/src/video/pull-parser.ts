/** What a parser needs next: so many bytes to look at, or so many to pass over. */
export type Want = { take: number } | { skip: number }

/** Asks for bytes in their order, and gives what it has found. */
export type Parser<T> = Generator<Want, T, Buffer>

const nothing = Buffer.alloc(0)

/** Runs a parser over a file that comes chunk by chunk and is never held. */
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
      // Copied: the chunk's memory is given back.
      if ('take' in this.#step.value) this.#taken.push(Buffer.from(part))
      at += part.length
      this.#missing -= part.length
      this.#advance()
    }
  }

  /** What was found; undefined where the file ended before the parser did. */
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
