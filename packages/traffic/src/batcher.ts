import type { BatcherOptions, Blocked, Waiting } from './batcher-types.ts'
import { isLocked } from './database-errors.ts'
import { lockPauseMs } from './locked-retry.ts'
import { HeldElsewhere, Overloaded } from './overloaded.ts'
import { timeouts } from './timeouts.ts'

/** An outcome: another transaction has locked a row of this input, and nothing was done for it. It is retried. */
export class Locked {
  /** One of the input's keys. */
  readonly key: string

  constructor(key: string) {
    this.key = key
  }
}

const noKeys: readonly string[] = []
const maxBytes = 16 * 1024 * 1024
const maxBlocked = 512
const checkIntervalMs = 200

/**
 * Lets inputs of one kind share a query: those of one turn of the event loop, or those that arrived while earlier
 * batches ran.
 */
export class Batcher<In, Out> {
  readonly #options: BatcherOptions<In, Out>
  readonly #maxWaiting: number
  readonly #waitMs: number
  /** How many inputs of running batches have each key. A batch that is split frees those of one half before the other. */
  readonly #busyKeys = new Map<string, number>()
  readonly #blocked = new Map<string, Blocked<In, Out>>()
  #waiting: Waiting<In, Out>[] = []
  /** The size of all waiting inputs, in #waiting or blocked. */
  #count = 0
  #bytes = 0
  #running = 0
  /** When a batch last succeeded, or began while none ran. */
  #movedAtMs = 0
  /** Whether the last batch failed. */
  #isFailing = false
  #scheduled = false
  #checks: NodeJS.Timeout | undefined

  constructor(options: BatcherOptions<In, Out>) {
    this.#options = options
    this.#maxWaiting = options.maxWaiting ?? 2_000
    this.#waitMs = options.waitMs ?? timeouts.queueMs
  }

  /** How many inputs wait, including those for a locked row. */
  get waitingCount(): number {
    return this.#count
  }

  /** Whether inputs with this key wait for a row that another transaction has locked. */
  isBlocked(key: string): boolean {
    return this.#blocked.has(key)
  }

  /**
   * Rejects with Overloaded if the queue is full or the input waited too long in it: then nothing was done for it.
   */
  add(input: In): Promise<Out> {
    const keys = this.#options.keysOf?.(input) ?? noKeys
    const bytes = this.#options.bytesOf?.(input) ?? 0
    const now = performance.now()
    if (this.#count >= this.#maxWaiting || this.#bytes + bytes > maxBytes)
      return Promise.reject(new Overloaded('too many requests wait to be done'))
    const isStalled = this.#isFailing || now - this.#movedAtMs > timeouts.stalledMs
    if (isStalled && this.#running >= this.#options.concurrency)
      return Promise.reject(new Overloaded('those before it are not answered'))
    return new Promise((resolve, reject) => {
      this.#count++
      this.#bytes += bytes
      this.#waiting.push({
        input,
        keys,
        lane: this.#options.laneOf?.(input) ?? 0,
        bytes,
        untilMs: now + this.#waitMs,
        lockedUntilMs: now + timeouts.lockedMs,
        locked: false,
        alone: false,
        probes: undefined,
        resolve,
        reject,
      })
      this.#check()
      this.#schedule()
    })
  }

  #check(): void {
    this.#checks ??= setInterval(() => this.#dropLate(), checkIntervalMs).unref()
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.concurrency || this.#waiting.length === 0) return
    this.#scheduled = true
    // Starts after the readable sockets of this turn were read, so that their requests join the batch.
    setImmediate(() => {
      this.#scheduled = false
      void this.#runNext()
    })
  }

  async #runNext(): Promise<void> {
    const { keysOf, laneOf, maxSize } = this.#options
    const batch = keysOf || laneOf ? this.#takeApart() : this.#waiting.splice(0, maxSize)
    if (batch.length === 0) return
    for (const waiting of batch) this.#leave(waiting)
    if (this.#running++ === 0) this.#movedAtMs = performance.now()
    this.#schedule()
    const answer = await this.#settle(batch)
    this.#running--
    // The next batch begins before the answers of this one are sent, so that the database is not idle meanwhile. If few
    // inputs wait, others may join them first.
    if (this.#waiting.length >= batch.length && !this.#scheduled) void this.#runNext()
    else this.#schedule()
    answer()
  }

  /**
   * The inputs of the next batch: of one lane, without those that share a key with a running batch, or with an input
   * that is left waiting before them.
   */
  #takeApart(): Waiting<In, Out>[] {
    const batch: Waiting<In, Out>[] = []
    const left: Waiting<In, Out>[] = []
    const passed = new Set<string>()
    let taken = 0
    for (const waiting of this.#waiting) {
      if (batch.length >= this.#options.maxSize || batch[0]?.alone) break
      taken++
      const blocked = this.#blocked.size === 0 || waiting.probes ? undefined : this.#blockedOf(waiting)
      if (blocked) this.#block(blocked, waiting)
      else if (
        waiting.lane !== (batch[0] ?? waiting).lane ||
        waiting.keys.some((key) => this.#busyKeys.has(key) || passed.has(key)) ||
        (waiting.alone && batch.length > 0)
      ) {
        left.push(waiting)
        for (const key of waiting.keys) passed.add(key)
      } else batch.push(waiting)
    }
    const rest = this.#waiting.slice(taken)
    this.#waiting = left.length === 0 ? rest : left.concat(rest)
    for (const { keys } of batch) for (const key of keys) this.#busyKeys.set(key, (this.#busyKeys.get(key) ?? 0) + 1)
    return batch
  }

  /** Returns a function that answers the inputs. If one of them waits for a lock, they are answered before. */
  async #settle(batch: Waiting<In, Out>[]): Promise<() => void> {
    try {
      const outcomes = await this.#options.run(batch.map((waiting) => waiting.input))
      this.#free(batch)
      this.#movedAtMs = performance.now()
      this.#isFailing = false
      const answer = () => batch.forEach((waiting, i) => this.#answer(waiting, outcomes[i] as Out | Error | Locked))
      // What waits for a locked row must be known before the next batch is taken.
      if (outcomes.some((outcome) => outcome instanceof Locked)) answer()
      else return answer
    } catch (error) {
      // One bad input must not fail the others.
      if (batch.length > 1 && this.#options.isAboutOneInput?.(error)) await this.#settleHalves(batch)
      else if (this.#options.keysOf && isLocked(error)) await this.#findLocked(batch)
      else {
        this.#free(batch)
        this.#isFailing = true
        for (const waiting of batch) this.#reject(waiting, error)
      }
    }
    return () => undefined
  }

  /** An input needs a lock that its keys do not name. Splitting the batch finds it; it is tried alone from now on. */
  async #findLocked(batch: Waiting<In, Out>[]): Promise<void> {
    const [first, second] = batch
    if (!first || second) return this.#settleHalves(batch)
    this.#free(batch)
    first.alone = true
    this.#answer(first, new Locked(first.keys[0] ?? ''))
  }

  async #settleHalves(batch: Waiting<In, Out>[]): Promise<void> {
    const middle = batch.length >> 1
    for (const half of [batch.slice(0, middle), batch.slice(middle)]) (await this.#settle(half))()
  }

  #free(batch: Waiting<In, Out>[]): void {
    for (const { keys } of batch)
      for (const key of keys) {
        const others = (this.#busyKeys.get(key) ?? 1) - 1
        if (others > 0) this.#busyKeys.set(key, others)
        else this.#busyKeys.delete(key)
      }
  }

  #answer(waiting: Waiting<In, Out>, outcome: Out | Error | Locked): void {
    if (outcome instanceof Locked) {
      const instead = this.#options.ifLocked?.(waiting.input)
      if (instead === undefined) this.#tryLater(waiting, outcome.key)
      else waiting.resolve(instead)
    } else if (outcome instanceof Error) this.#reject(waiting, outcome)
    else {
      if (this.#blocked.size > 0) for (const key of waiting.keys) this.#unblock(key)
      waiting.resolve(outcome)
    }
  }

  #reject(waiting: Waiting<In, Out>, error: unknown): void {
    // Whatever the outcome of the first one, the others are tried too.
    if (waiting.probes !== undefined) this.#unblock(waiting.probes)
    waiting.reject(error)
  }

  #tryLater(waiting: Waiting<In, Out>, key: string): void {
    this.#count++
    this.#bytes += waiting.bytes
    // The checks ended if nothing waited while it was tried.
    this.#check()
    const { probes } = waiting
    waiting.locked = true
    waiting.untilMs = waiting.lockedUntilMs
    waiting.probes = undefined
    if (probes !== undefined && probes !== key) this.#unblock(probes)
    const others = this.#blocked.get(key)
    if (others && probes !== key) return this.#block(others, waiting)
    const blocked = others ?? { inputs: [], tries: 0 }
    blocked.inputs.unshift(waiting)
    this.#blocked.set(key, blocked)
    this.#probeLater(key, blocked)
  }

  #blockedOf({ keys }: Waiting<In, Out>): Blocked<In, Out> | undefined {
    for (const key of keys) {
      const blocked = this.#blocked.get(key)
      if (blocked) return blocked
    }
    return undefined
  }

  #block({ inputs }: Blocked<In, Out>, waiting: Waiting<In, Out>): void {
    const instead = this.#options.ifLocked?.(waiting.input)
    if (instead !== undefined) this.#leave(waiting).resolve(instead)
    else if (inputs.length < maxBlocked) inputs.push(waiting)
    else this.#leave(waiting).reject(new Overloaded('too many wait for the same row'))
  }

  #probeLater(key: string, blocked: Blocked<In, Out>): void {
    setTimeout(() => {
      if (this.#blocked.get(key) !== blocked) return
      const first = blocked.inputs.shift()
      if (!first) return void this.#blocked.delete(key)
      blocked.tries++
      first.probes = key
      this.#waiting.unshift(first)
      this.#schedule()
    }, lockPauseMs(blocked.tries))
  }

  /** The inputs that waited for its row continue, before all that arrived later. */
  #unblock(key: string): void {
    const blocked = this.#blocked.get(key)
    if (!blocked) return
    this.#blocked.delete(key)
    for (const waiting of blocked.inputs) waiting.untilMs = waiting.lockedUntilMs
    this.#waiting.unshift(...blocked.inputs.splice(0))
    this.#schedule()
  }

  #leave(waiting: Waiting<In, Out>): Waiting<In, Out> {
    this.#count--
    this.#bytes -= waiting.bytes
    return waiting
  }

  #dropLate(): void {
    if (this.#count === 0) {
      clearInterval(this.#checks)
      this.#checks = undefined
      return
    }
    const now = performance.now()
    const late = this.#waiting.filter((waiting) => now >= waiting.untilMs)
    if (late.length > 0) this.#waiting = this.#waiting.filter((waiting) => now < waiting.untilMs)
    for (const blocked of this.#blocked.values()) {
      late.push(...blocked.inputs.filter((waiting) => now >= waiting.lockedUntilMs))
      blocked.inputs = blocked.inputs.filter((waiting) => now < waiting.lockedUntilMs)
    }
    for (const waiting of late)
      this.#reject(this.#leave(waiting), waiting.locked ? new HeldElsewhere() : new Overloaded('it waited too long to be done'))
  }
}
