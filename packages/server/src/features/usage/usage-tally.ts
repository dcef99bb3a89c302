import type { CountedMeter, UsageCount } from './store.ts'

type Quantities = Record<CountedMeter, number>

export const dayMs = 24 * 60 * 60 * 1_000

/** Counts in memory, a handful of numbers a tenant and day (UTC). */
export class UsageTally {
  /** Tenants times days. */
  size = 0
  readonly #maxSize: number
  readonly #days = new Map<number, Map<string, Quantities>>()
  /** The day that was counted last, which is nearly always the one that is asked for. */
  #lastDay = -1
  #ofLastDay = new Map<string, Quantities>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** To be added to; undefined: there is no more room. */
  of(tenantId: string, nowMs: number): Quantities | undefined {
    const day = Math.floor(nowMs / dayMs)
    if (day !== this.#lastDay) this.#turnTo(day)
    return this.#ofLastDay.get(tenantId) ?? this.#open(tenantId)
  }

  /** All that was counted; from here on from zero. */
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

  #turnTo(day: number): void {
    this.#ofLastDay = this.#days.get(day) ?? new Map<string, Quantities>()
    this.#days.set(day, this.#ofLastDay)
    this.#lastDay = day
  }

  #open(tenantId: string): Quantities | undefined {
    if (this.size >= this.#maxSize) return undefined
    const quantities = { requests: 0, items: 0, paints: 0, launches: 0, bytes: 0 }
    this.#ofLastDay.set(tenantId, quantities)
    this.size++
    return quantities
  }
}

function countsOf(tenantId: string, day: string, quantities: Quantities): UsageCount[] {
  return Object.entries(quantities).flatMap(([meter, quantity]) =>
    quantity > 0 ? [{ tenantId, day, meter: meter as CountedMeter, quantity: Math.min(quantity, Number.MAX_SAFE_INTEGER) }] : [],
  )
}
