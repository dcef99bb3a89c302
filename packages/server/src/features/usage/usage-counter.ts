import { randomUUID } from 'node:crypto'
import { isLocked } from '@atrium/traffic/database-errors'
import { Counter, type Registry } from 'prom-client'
import type { Db } from '#db/database.ts'
import { addUsage, deleteSilentWriters, type CountedMeter, type UsageBatch } from './store.ts'
import { UsageTally } from './usage-tally.ts'

/** Callers are told that five seconds may be lost: this leaves a write three of them. */
const flushEveryMs = 2_000
const flushAtTenants = 4_000
/** What is held at the most while the database is away, and once more in the batch that is tried again and again: some 10 MB. */
const maxTenants = 20_000
/** Batches that were taken apart because of a lock, at the most. */
const maxHeld = 256

interface UsageCounterOptions {
  db: Db
  registry: Registry
  onError: (error: unknown) => void
  now?: () => number
}

/**
 * Counts in memory what tenants use and writes it down every two seconds, in batches. What was not written down when the process is
 * killed is lost; nothing is ever counted twice. A batch that failed is kept as it is and sent again under its own number until it is
 * known to be in: so also the one whose answer was lost, after which nobody knows whether it was committed. One that meets a row which somebody
 * holds was rolled back for certain: its halves go on as batches of writers of their own, until only the locked row waits.
 */
export class UsageCounter {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  readonly #failures: Counter
  readonly #dropped: Counter
  readonly #writerId = randomUUID()
  readonly #tally = new UsageTally(maxTenants)
  #batches = 0
  #batch: UsageBatch | undefined
  #held: UsageBatch[] = []
  readonly #uncertain = new WeakSet<UsageBatch>()
  #running = Promise.resolve()
  #next: Promise<void> | undefined

  constructor({ db, registry, onError, now = Date.now }: UsageCounterOptions) {
    this.#db = db
    this.#onError = onError
    this.#now = now
    const registers = [registry]
    this.#failures = new Counter({
      name: 'atrium_usage_flush_failures_total',
      help: 'Usage batches that could not be written; they are sent again.',
      registers,
    })
    this.#dropped = new Counter({
      name: 'atrium_usage_dropped_total',
      help: 'Counts that were dropped because too many others wait to be written.',
      registers,
    })
    this.#timer = setInterval(() => void this.flush(), flushEveryMs).unref()
  }

  /** A request of the tenant was answered; bytes: of its body and of the answer's. */
  answered(tenantId: string, bytes: number): void {
    const quantities = this.#of(tenantId)
    if (!quantities) return
    quantities.requests++
    quantities.bytes += bytes
  }

  count(tenantId: string, meter: CountedMeter, quantity: number): void {
    // One NaN would spoil all that is counted with it.
    if (!Number.isSafeInteger(quantity) || quantity < 0) throw new Error(`${quantity} ${meter} cannot be counted`)
    const quantities = this.#of(tenantId)
    if (quantities) quantities[meter] += quantity
  }

  /** Writes down what was counted until now; never rejects. Whoever asks while a flush runs shares the next one. */
  flush(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return (this.#running = this.#write())
    })
    return this.#next
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
    // A connection that broke while it lay idle fails the first one.
    if (this.#batch || this.#held.length > 0) await this.flush()
  }

  #of(tenantId: string) {
    const before = this.#tally.size
    const quantities = this.#tally.of(tenantId, this.#now())
    if (!quantities) this.#dropped.inc()
    if (this.#tally.size === flushAtTenants && before < flushAtTenants) void this.flush()
    return quantities
  }

  async #write(): Promise<void> {
    try {
      await this.#writeHeld()
      await this.#writeBatch()
      const counts = this.#tally.take()
      if (counts.length === 0) return
      this.#batch = { writerId: this.#writerId, number: ++this.#batches, counts }
      await this.#writeBatch()
    } catch (error) {
      this.#failures.inc()
      this.#onError(error)
    }
  }

  async #writeBatch(): Promise<void> {
    if (!this.#batch) return
    const { number } = this.#batch
    const left = await this.#writeApart(this.#batch)
    this.#batch = undefined
    this.#held.push(...left)
    if (number === 1) await deleteSilentWriters(this.#db)
  }

  async #writeHeld(): Promise<void> {
    const held = this.#held
    this.#held = []
    try {
      while (held.length > 0) {
        const left = await this.#writeApart(held[0]!)
        held.shift()
        this.#held.push(...left)
      }
    } finally {
      this.#held.push(...held)
    }
  }

  /** Writes a batch, or what of it nobody has locked; gives the rest. */
  async #writeApart(batch: UsageBatch): Promise<UsageBatch[]> {
    try {
      await addUsage(this.#db, batch)
      return []
    } catch (error) {
      // After a lost answer it may be in already, and is only safe under its own number.
      if (!isLocked(error)) this.#uncertain.add(batch)
      const { counts } = batch
      if (!isLocked(error) || this.#uncertain.has(batch) || this.#held.length >= maxHeld) throw error
      if (counts.length === 1) return [batch]
      const middle = counts.length >> 1
      const left: UsageBatch[] = []
      const halves = [counts.slice(0, middle), counts.slice(middle)].map((half) => ({
        writerId: randomUUID(),
        number: 1,
        counts: half,
      }))
      // The batch is no more: whatever goes wrong from here on, its halves are held.
      for (const half of halves) left.push(...(await this.#writeApart(half).catch(() => [half])))
      return left
    }
  }
}
