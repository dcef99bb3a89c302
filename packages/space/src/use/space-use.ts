import { createHmac } from 'node:crypto'
import { networkOf } from '@atrium/traffic/client-address'
import type { Db } from '../rooms/store.ts'
import { SpaceError } from '../space-error.ts'
import { countBytes } from './store.ts'

export interface SpaceUseOptions {
  db: Db
  /** The key of the hashes of addresses, the same in all processes. Addresses themselves are not stored. */
  secret: string
  /** The limit of one address; 0: no limit. */
  bytesPerDay: number
  roomsPerHour: number
  /** The limit of all rooms together. */
  maxBytes: number
  onError: (error: Error) => void
  now?: () => number
}

/**
 * The limit of an IPv6 network, as a multiple of that of one address: a caller with many /64 has them in one of
 * these networks.
 */
const networks = [
  { bits: 56, times: 4 },
  { bits: 48, times: 16 },
] as const

interface Counted {
  /** The use of this day by all processes, as last read. */
  known: number
  /** Counted here and not written to the database yet. */
  pending: number
}

const flushIntervalMs = 1_000
/** How often the total is read if nothing is written here. */
const idleFlushes = 10
const maxBatch = 1_000
/** How many callers are cached. A caller that was dropped is read again with its next write. */
const maxCallers = 50_000
const dayMs = 24 * 60 * 60 * 1_000
const hourMs = 60 * 60 * 1_000

/**
 * Limits what addresses, and all callers together, write. Counts in memory and adds the counts to the database once
 * a second. So the limits hold for all processes (except for writes within that second), and no write waits for
 * them.
 */
export class SpaceUse {
  readonly #options: SpaceUseOptions
  readonly #now: () => number
  #callers = new Map<string, Counted>()
  #day: number
  #total = 0
  #added = 0
  #ticks = 0
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined

  constructor(options: SpaceUseOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#day = Math.floor(this.#now() / dayMs)
  }

  /** The size of all rooms in bytes, as last read. */
  get totalBytes(): number {
    return this.#total + this.#added
  }

  async start(): Promise<void> {
    await this.flush()
    this.#timer = setInterval(() => {
      if (this.#added !== 0 || ++this.#ticks % idleFlushes === 0) void this.flush().catch(this.#options.onError)
    }, flushIntervalMs).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(this.#options.onError)
  }

  /**
   * Counts bytes that an address is about to write. Returns a function that takes them back if they were not
   * written. Throws SpaceError if the address, its network or all callers together may not write that much.
   */
  write(address: string, bytes: number): () => void {
    this.#turnDay()
    const { maxBytes, bytesPerDay } = this.#options
    if (this.#total + this.#added + bytes > maxBytes)
      throw new SpaceError('unavailable', 'the service has no room for more', 3_600)
    const callers = bytesPerDay > 0 ? callersOf(address) : []
    for (const { name, times } of callers) {
      const { known, pending } = this.#counted(name)
      if (known + pending + bytes > bytesPerDay * times)
        throw new SpaceError('rate_limited', 'too much written today', this.#secondsUntil(dayMs))
    }
    const day = this.#day
    const add = (sign: 1 | -1) => {
      this.#added += sign * bytes
      if (day === this.#day) for (const { name } of callers) this.#counted(name).pending += sign * bytes
    }
    add(1)
    return () => add(-1)
  }

  /**
   * The names under which a new room of this address is counted, the narrow ones first, and how many rooms each may
   * create per hour.
   */
  roomLimits(address: string): { callers: string[]; allowed: number[] } {
    const { roomsPerHour } = this.#options
    const counted = roomsPerHour > 0 ? callersOf(address) : []
    return { callers: counted.map(({ name }) => this.#hash(name)), allowed: counted.map(({ times }) => roomsPerHour * times) }
  }

  tooManyRooms(): SpaceError {
    return new SpaceError('rate_limited', 'too many new rooms', this.#secondsUntil(hourMs))
  }

  /** Adds the pending counts to the database, and reads those of the other processes. Runs once at a time. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  async #flush(): Promise<void> {
    this.#turnDay()
    const day = this.#day
    const batch = [...this.#callers].filter(([, { pending }]) => pending > 0).slice(0, maxBatch)
    const written = batch.map(([name, { pending }]) => ({ name, caller: this.#hash(name), bytes: pending }))
    const added = this.#added
    const { used, total } = await countBytes(this.#options.db, written, added)
    this.#total = total
    this.#added -= added
    if (day !== this.#day) return
    for (const { name, caller, bytes } of written) {
      const counted = this.#counted(name)
      counted.pending -= bytes
      counted.known = used.get(caller) ?? counted.known
    }
  }

  #counted(name: string): Counted {
    const found = this.#callers.get(name)
    if (found) return found
    if (this.#callers.size >= maxCallers) this.#forgetSettled()
    const counted = { known: 0, pending: 0 }
    this.#callers.set(name, counted)
    return counted
  }

  /** Callers without pending counts. They are read again within a second of their next write. */
  #forgetSettled(): void {
    for (const [name, { pending }] of this.#callers) if (pending <= 0) this.#callers.delete(name)
  }

  #turnDay(): void {
    const day = Math.floor(this.#now() / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#callers = new Map()
  }

  #secondsUntil(periodMs: number): number {
    return Math.ceil((periodMs - (this.#now() % periodMs)) / 1_000)
  }

  #hash(name: string): string {
    return createHmac('sha256', this.#options.secret).update(name).digest('base64url')
  }
}

function callersOf(address: string): { name: string; times: number }[] {
  const wider = networks.flatMap(({ bits, times }) => {
    const name = networkOf(address, bits)
    return name === undefined ? [] : [{ name, times }]
  })
  return [{ name: address, times: 1 }, ...wider]
}
