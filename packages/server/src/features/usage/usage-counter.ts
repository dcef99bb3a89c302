import { randomUUID } from 'node:crypto'
import { isLocked } from '@atrium/traffic/database-errors'
import { Counter, type Registry } from 'prom-client'
import type { Db } from '#db/database.ts'
import { addUsage, deleteStoppedWriters, type CountedMeter, type UsageBatch } from './store.ts'
import { UsageTally } from './usage-tally.ts'

/**
 * The documentation says that up to five seconds of counts may be lost. This interval leaves three seconds for the
 * write.
 */
const flushIntervalMs = 2_000
const flushAtTenants = 4_000
/** The size of the tally while the database is unavailable, and of the batch that is retried: about 10 MB each. */
const maxTenants = 20_000
/** The number of batches that wait because of a locked row. */
const maxHeld = 256

interface UsageCounterOptions {
  db: Db
  registry: Registry
  onError: (error: unknown) => void
  now?: () => number
}

/**
 * Counts in memory what tenants use, and writes the counts every two seconds in batches. A killed process loses the
 * counts not yet written; nothing is counted twice. A failed batch is sent again, unchanged and under its own number,
 * until it is known to be committed. This includes a batch whose answer was lost, which may or may not be committed. A
 * batch that met a locked row was certainly rolled back: it is split into halves, each of a new writer, until only the
 * count of the locked row waits.
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
      help: 'Usage batches that could not be written; they are retried.',
      registers,
    })
    this.#dropped = new Counter({
      name: 'atrium_usage_dropped_total',
      help: 'Counts that were dropped because too many wait to be written.',
      registers,
    })
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref()
  }

  /** Counts an answered request of the tenant; bytes: of its body and of the answer's. */
  answered(tenantId: string, bytes: number): void {
    const quantities = this.#quantitiesOf(tenantId)
    if (!quantities) return
    quantities.requests++
    quantities.bytes += bytes
  }

  count(tenantId: string, meter: CountedMeter, quantity: number): void {
    // One NaN would corrupt every sum that includes it.
    if (!Number.isSafeInteger(quantity) || quantity < 0) throw new Error(`${quantity} ${meter} cannot be counted`)
    const quantities = this.#quantitiesOf(tenantId)
    if (quantities) quantities[meter] += quantity
  }

  /** Writes the counts so far; never rejects. Calls made while a flush runs share the next one. */
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
    // The first flush fails if its idle connection had broken.
    if (this.#batch || this.#held.length > 0) await this.flush()
  }

  #quantitiesOf(tenantId: string) {
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
    const left = await this.#writeUnlocked(this.#batch)
    this.#batch = undefined
    this.#held.push(...left)
    if (number === 1) await deleteStoppedWriters(this.#db)
  }

  async #writeHeld(): Promise<void> {
    const held = this.#held
    this.#held = []
    try {
      for (let batch = held[0]; batch; batch = held[0]) {
        const left = await this.#writeUnlocked(batch)
        held.shift()
        this.#held.push(...left)
      }
    } finally {
      this.#held.push(...held)
    }
  }

  /** Writes a batch, or the part of it whose rows are not locked. Returns the rest. */
  async #writeUnlocked(batch: UsageBatch): Promise<UsageBatch[]> {
    try {
      await addUsage(this.#db, batch)
      return []
    } catch (error) {
      // After a lost answer the batch may be committed: it may be sent again only under its own number.
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
      // The halves replace the batch: if one fails, it waits.
      for (const half of halves) left.push(...(await this.#writeUnlocked(half).catch(() => [half])))
      return left
    }
  }
}
