import { type Traffic, type TrafficBatch, addTraffic, deleteStoppedWriters } from './store.ts'
import { randomInt, randomUUID } from 'node:crypto'
import { isLocked } from '@atrium/traffic/database-errors'
import { Counter, type Registry } from '#libraries/prom-client.js'
import type { Db } from '#db/database.ts'

export const dayMs = 24 * 60 * 60 * 1_000

/** A minute has this many slots. The counts of a tenant are written in one of them. */
const slots = 60

/** Counts in memory: requests and bytes of each tenant and UTC day. */
class TrafficTally {
  /** The number of entries, one for each tenant and day. */
  size = 0
  readonly #maxSize: number
  /** Differs between processes, so that they do not all write a tenant's row in the same second. */
  readonly #salt = randomInt(2 ** 31)
  readonly #days = new Map<number, Map<string, Traffic>>()
  readonly #slots: Set<Traffic>[] = Array.from({ length: slots }, () => new Set())
  /** The day of the last count, which is nearly always the day of the next. */
  #lastDay = -1
  #ofLastDay = new Map<string, Traffic>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** The entry to add to; undefined: the tally is full. */
  entryOf(tenantId: string, nowMs: number): Traffic | undefined {
    const day = Math.floor(nowMs / dayMs)
    if (day !== this.#lastDay) this.#changeDay(day)
    return this.#ofLastDay.get(tenantId) ?? this.#insert(tenantId)
  }

  takeSlot(slot: number): Traffic[] {
    return this.#take([...(this.#slots[slot] ?? [])])
  }

  takeTenant(tenantId: string): Traffic[] {
    return this.#take([...this.#days.values()].flatMap((ofDay) => ofDay.get(tenantId) ?? []))
  }

  takeAll(): Traffic[] {
    return this.#take(this.#slots.flatMap((entries) => [...entries]))
  }

  #take(entries: Traffic[]): Traffic[] {
    for (const entry of entries) {
      const day = Date.parse(entry.day) / dayMs
      const ofDay = this.#days.get(day)
      ofDay?.delete(entry.tenantId)
      if (ofDay?.size === 0 && day !== this.#lastDay) this.#days.delete(day)
      this.#slots[this.#slotOf(entry.tenantId)]?.delete(entry)
    }
    this.size -= entries.length
    return entries
  }

  #changeDay(day: number): void {
    if (this.#ofLastDay.size === 0) this.#days.delete(this.#lastDay)
    this.#ofLastDay = this.#days.get(day) ?? new Map<string, Traffic>()
    this.#days.set(day, this.#ofLastDay)
    this.#lastDay = day
  }

  #insert(tenantId: string): Traffic | undefined {
    if (this.size >= this.#maxSize) return undefined
    const day = new Date(this.#lastDay * dayMs).toISOString().slice(0, 10)
    const entry = { tenantId, day, requests: 0, bytes: 0 }
    this.#ofLastDay.set(tenantId, entry)
    this.#slots[this.#slotOf(tenantId)]?.add(entry)
    this.size++
    return entry
  }

  #slotOf(tenantId: string): number {
    // FNV-1a, and the last step of MurmurHash3, without which salts of equal low bits would often give equal slots.
    let hash = this.#salt
    for (let i = 0; i < tenantId.length; i++) hash = Math.imul(hash ^ tenantId.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return ((hash ^ (hash >>> 16)) >>> 0) % slots
  }
}

/** A killed process loses up to a minute of counts and what it was writing. */
const slotMs = 60_000 / slots
/** The size of the tally while the database is unavailable: about 30 MB. */
const maxTenants = 100_000
/** Beyond it, all counts are written without waiting for their second. */
const flushAtTenants = 80_000
/** The counts of one statement. 100,000 take seconds, and a statement that takes too long is repeated for ever. */
const maxBatchSize = 5_000
/** The number of batches that wait because of a locked row. */
const maxHeld = 256

const rowOf = ({ tenantId, day }: Traffic) => `${tenantId} ${day}`

interface UsageCounterOptions {
  db: Db
  registry: Registry
  onError: (error: unknown) => void
  now?: () => number
}

/**
 * Sums the requests and bytes of tenants in memory, and writes a sixtieth of the tenants each second: each once a
 * minute. A killed process loses the counts not yet written; nothing is counted twice. A failed batch is sent again,
 * unchanged and under its own number, until it is known to be committed. This includes a batch whose answer was lost,
 * which may or may not be committed. A batch that met a locked row was certainly rolled back: it is split into halves,
 * each of a new writer, until only the count of the locked row waits. Later counts of this row are added to it, so each
 * write waits for the row once. If the answer of a batch was lost before, it waits whole and unchanged. What waits keeps
 * its writer, and the following batches get a new one: a writer's numbers have to be written in order.
 */
export class UsageCounter {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  readonly #failures: Counter
  readonly #dropped: Counter
  #writerId = randomUUID()
  readonly #tally = new TrafficTally(maxTenants)
  #batches = 0
  #batch: TrafficBatch | undefined
  #held: TrafficBatch[] = []
  readonly #uncertain = new WeakSet<TrafficBatch>()
  #running = Promise.resolve()
  #next: Promise<void> | undefined
  #slot = 0
  /** Which counts the next write takes: those of a slot, of a tenant or all. A map, so that each is there once. */
  readonly #due = new Map<number | string, () => Traffic[]>()
  /** Counts that were taken from the tally and are not in a batch yet. */
  #taken: Traffic[] = []

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
    this.#timer = setInterval(() => void this.#writeSlot(), slotMs).unref()
  }

  /** Counts an answered request of the tenant; bytes: of its body and of the answer's. */
  answered(tenantId: string, bytes: number): void {
    const entry = this.#entryOf(tenantId)
    if (!entry) return
    entry.requests++
    entry.bytes = Math.min(entry.bytes + bytes, Number.MAX_SAFE_INTEGER)
  }

  /** Counts bytes of an answer that goes on after its request was counted. */
  sent(tenantId: string, bytes: number): void {
    // One NaN would corrupt every sum that includes it.
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw new Error(`${bytes} bytes cannot be counted`)
    const entry = this.#entryOf(tenantId)
    if (entry) entry.bytes = Math.min(entry.bytes + bytes, Number.MAX_SAFE_INTEGER)
  }

  /** Writes the counts of all tenants so far, or of one; never rejects. */
  flush(tenantId?: string): Promise<void> {
    if (tenantId === undefined) return this.#writeNext('all', () => this.#tally.takeAll())
    return this.#writeNext(tenantId, () => this.#tally.takeTenant(tenantId))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
    // The first flush fails if its idle connection had broken.
    if (this.#batch || this.#held.length > 0 || this.#taken.length > 0) await this.flush()
  }

  #entryOf(tenantId: string): Traffic | undefined {
    const before = this.#tally.size
    const entry = this.#tally.entryOf(tenantId, this.#now())
    if (!entry) this.#dropped.inc()
    if (this.#tally.size === flushAtTenants && before < flushAtTenants) void this.flush()
    return entry
  }

  #writeSlot(): Promise<void> {
    const slot = this.#slot++ % slots
    return this.#writeNext(slot, () => this.#tally.takeSlot(slot))
  }

  /** Calls made while a write runs share the next one. */
  #writeNext(due: number | string, take: () => Traffic[]): Promise<void> {
    this.#due.set(due, take)
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return (this.#running = this.#write())
    })
    return this.#next
  }

  async #write(): Promise<void> {
    try {
      await this.#writeHeld()
      await this.#writeBatch()
      this.#taken = this.#addToHeld(this.#taken.concat([...this.#due.values()].flatMap((take) => take())))
      this.#due.clear()
      while (this.#taken.length > 0) {
        this.#batch = { writerId: this.#writerId, number: ++this.#batches, traffic: this.#taken.splice(0, maxBatchSize) }
        await this.#writeBatch()
      }
    } catch (error) {
      this.#failures.inc()
      this.#onError(error)
    }
  }

  async #writeBatch(): Promise<void> {
    if (!this.#batch) return
    const { number } = this.#batch
    const left = await this.#writeUnlocked(this.#batch)
    if (left.includes(this.#batch)) {
      this.#writerId = randomUUID()
      this.#batches = 0
    }
    this.#batch = undefined
    this.#hold(left)
    if (number === 1) await deleteStoppedWriters(this.#db)
  }

  async #writeHeld(): Promise<void> {
    const held = this.#held
    this.#held = []
    try {
      for (let batch = held[0]; batch; batch = held[0]) {
        const left = await this.#writeUnlocked(batch)
        held.shift()
        this.#hold(left)
      }
    } finally {
      this.#held.push(...held)
    }
  }

  #hold(batches: TrafficBatch[]): void {
    for (const batch of batches) {
      const isAdded = this.#isOneCount(batch) && this.#addToHeld(batch.traffic).length === 0
      if (!isAdded) this.#held.push(batch)
    }
  }

  /** Adds each count to the one that waits for the same row, if there is one. Returns the others. */
  #addToHeld(counts: Traffic[]): Traffic[] {
    const waiting = new Map<string, Traffic>()
    for (const batch of this.#held)
      if (this.#isOneCount(batch)) for (const count of batch.traffic) waiting.set(rowOf(count), count)
    if (waiting.size === 0) return counts
    return counts.filter((count) => {
      const held = waiting.get(rowOf(count))
      if (!held) return true
      held.requests += count.requests
      held.bytes = Math.min(held.bytes + count.bytes, Number.MAX_SAFE_INTEGER)
      return false
    })
  }

  /** Whether the batch is a single count that was certainly not committed, so that it may still grow. */
  #isOneCount(batch: TrafficBatch): boolean {
    return batch.traffic.length === 1 && !this.#uncertain.has(batch)
  }

  /** Writes a batch, or the part of it whose rows are not locked. Returns the rest. */
  async #writeUnlocked(batch: TrafficBatch): Promise<TrafficBatch[]> {
    try {
      await addTraffic(this.#db, batch)
      return []
    } catch (error) {
      // After a lost answer the batch may be committed: it may be sent again only under its own number.
      if (!isLocked(error)) this.#uncertain.add(batch)
      const { traffic } = batch
      if (!isLocked(error) || this.#held.length >= maxHeld) throw error
      if (traffic.length === 1 || this.#uncertain.has(batch)) return [batch]
      const middle = traffic.length >> 1
      const left: TrafficBatch[] = []
      const halves = [traffic.slice(0, middle), traffic.slice(middle)].map((half) => ({
        writerId: randomUUID(),
        number: 1,
        traffic: half,
      }))
      // The halves replace the batch: if one fails, it waits.
      for (const half of halves) left.push(...(await this.#writeUnlocked(half).catch(() => [half])))
      return left
    }
  }
}
