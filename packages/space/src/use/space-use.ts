import { createHmac } from 'node:crypto'
import { networkOf } from '@atrium/traffic/client-address'
import type { Db } from '../rooms/store.ts'
import { SpaceError } from '../space-error.ts'
import { countBytes } from './store.ts'

export interface SpaceUseOptions {
  db: Db
  /** What addresses are hashed with, the same in all processes: an address itself is not stored. */
  secret: string
  /** Of one address; 0: no limit. */
  bytesPerDay: number
  roomsPerHour: number
  /** Of all rooms together. */
  maxBytes: number
  onError: (error: Error) => void
  now?: () => number
}

/** What an IPv6 network may use, in multiples of one address: who has many /64 has them in one of these. */
const networks = [
  { bits: 56, times: 4 },
  { bits: 48, times: 16 },
] as const

interface Counted {
  /** Of this day, as last read: by all processes. */
  known: number
  /** Not written down yet. */
  pending: number
}

const flushEveryMs = 1_000
/** The total is looked at this often though nothing is written here. */
const idleFlushes = 10
const maxBatch = 1_000
/** Callers that are remembered; who is forgotten is read anew with their next write. */
const maxCallers = 50_000
const dayMs = 24 * 60 * 60 * 1_000
const hourMs = 60 * 60 * 1_000

/**
 * What addresses and all together write. Counted in memory and added to the database once a second, so that the limits hold over all processes
 * (but for what is written within that second) and no write waits for it.
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

  async start(): Promise<void> {
    await this.flush()
    this.#timer = setInterval(() => {
      if (this.#added !== 0 || ++this.#ticks % idleFlushes === 0) void this.flush().catch(this.#options.onError)
    }, flushEveryMs).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(this.#options.onError)
  }

  /**
   * Counts bytes that an address is about to write; gives what takes them back where they were not written. Throws SpaceError when that is
   * more than the address, its network or all together may.
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

  /** Under which names a new room of this address is counted, the narrow ones first, and how many each may make in an hour. */
  roomLimits(address: string): { callers: string[]; allowed: number[] } {
    const { roomsPerHour } = this.#options
    const counted = roomsPerHour > 0 ? callersOf(address) : []
    return { callers: counted.map(({ name }) => this.#hash(name)), allowed: counted.map(({ times }) => roomsPerHour * times) }
  }

  tooManyRooms(): SpaceError {
    return new SpaceError('rate_limited', 'too many new rooms', this.#secondsUntil(hourMs))
  }

  /** Adds what is pending to the database, and learns what the other processes added. One at a time. */
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

  /** Those that have nothing pending. They are read anew within a second of their next write. */
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
