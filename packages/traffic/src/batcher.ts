interface BatcherOptions<In, Out> {
  /** Does the whole batch; gives one outcome an input, in order. An Error as an outcome rejects that one alone. */
  run: (inputs: In[]) => Promise<(Out | Error)[]>
  maxSize: number
  /** How many batches may run at once. Further inputs wait and so make the next batch larger: load makes it more efficient. */
  concurrency: number
  /** Whether an error is about one input and not the batch: then each input gets a try of its own. Absent: never. */
  isAboutOneInput?: (error: unknown) => boolean
}

interface Waiting<In, Out> {
  input: In
  resolve: (output: Out) => void
  reject: (error: unknown) => void
}

/** Lets inputs of one kind share a query: those of one turn of the event loop, or those that came while earlier batches ran. */
export class Batcher<In, Out> {
  readonly #options: BatcherOptions<In, Out>
  #waiting: Waiting<In, Out>[] = []
  #running = 0
  #scheduled = false

  constructor(options: BatcherOptions<In, Out>) {
    this.#options = options
  }

  add(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.concurrency || this.#waiting.length === 0) return
    this.#scheduled = true
    // After the sockets that are readable now have been read, so that their requests join this batch.
    setImmediate(() => {
      this.#scheduled = false
      void this.#runNext()
    })
  }

  async #runNext(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxSize)
    if (batch.length === 0) return
    this.#running++
    this.#schedule()
    try {
      await this.#settle(batch)
    } finally {
      this.#running--
      this.#schedule()
    }
  }

  async #settle(batch: Waiting<In, Out>[]): Promise<void> {
    try {
      const outcomes = await this.#options.run(batch.map((waiting) => waiting.input))
      batch.forEach((waiting, i) => {
        const outcome = outcomes[i]
        if (outcome instanceof Error) waiting.reject(outcome)
        else waiting.resolve(outcome as Out)
      })
    } catch (error) {
      if (batch.length > 1 && this.#options.isAboutOneInput?.(error)) {
        // One bad input must not fail its neighbours: each gets its own try.
        for (const waiting of batch) await this.#settle([waiting])
        return
      }
      for (const { reject } of batch) reject(error)
    }
  }
}
