import { meters } from '@atrium/contract/usage'
import type { CountedMeter, UsageCount } from './store.ts'

type Quantities = Record<CountedMeter, number>

const countedMeters = meters.filter((meter) => meter !== 'credits')

export const dayMs = 24 * 60 * 60 * 1_000

/** Counts in memory: a few numbers for each tenant and UTC day. */
export class UsageTally {
  /** The number of entries, one for each tenant and day. */
  size = 0
  readonly #maxSize: number
  readonly #days = new Map<number, Map<string, Quantities>>()
  /** The day of the last count, which is nearly always the day of the next. */
  #lastDay = -1
  #ofLastDay = new Map<string, Quantities>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** The quantities to add to; undefined: the tally is full. */
  of(tenantId: string, nowMs: number): Quantities | undefined {
    const day = Math.floor(nowMs / dayMs)
    if (day !== this.#lastDay) this.#changeDay(day)
    return this.#ofLastDay.get(tenantId) ?? this.#insert(tenantId)
  }

  /** Returns all counts and resets the tally. */
  take(): UsageCount[] {
    const taken = [...this.#days].flatMap(([day, tenants]) => {
      const text = new Date(day * dayMs).toISOString().slice(0, 10)
      return [...tenants].flatMap(([tenantId, quantities]) => countsOf(tenantId, text, quantities))
    })
    this.#days.clear()
    this.#lastDay = -1
    this.size = 0
    return taken
  }

  #changeDay(day: number): void {
    this.#ofLastDay = this.#days.get(day) ?? new Map<string, Quantities>()
    this.#days.set(day, this.#ofLastDay)
    this.#lastDay = day
  }

  #insert(tenantId: string): Quantities | undefined {
    if (this.size >= this.#maxSize) return undefined
    const quantities = { requests: 0, items: 0, paints: 0, launches: 0, bytes: 0 }
    this.#ofLastDay.set(tenantId, quantities)
    this.size++
    return quantities
  }
}

function countsOf(tenantId: string, day: string, quantities: Quantities): UsageCount[] {
  return countedMeters.flatMap((meter) => {
    const quantity = Math.min(quantities[meter], Number.MAX_SAFE_INTEGER)
    return quantity > 0 ? [{ tenantId, day, meter, quantity }] : []
  })
}
