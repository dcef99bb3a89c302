interface Waiting {
  tenantId: string
  weight: number
  enter: () => void
}

export interface SlotLimits {
  slots: number
  /** How many of them one tenant may hold; what is heavier than that runs when the tenant has nothing else there. */
  perTenant: number
  /** How many may wait. */
  waiting: number
  waitingPerTenant: number
  waitMs: number
  /** What is thrown at one who would wait longer, or behind too many. */
  busy: () => Error
}

/**
 * Lets so much work run at once, the tenants in turn: next comes the one that has least running, and of those the one that has waited longest.
 * Many of one tenant wait behind one another, not before another's few. Within a tenant heavy work is not overtaken by light work for ever.
 */
export class Slots {
  readonly #limits: SlotLimits
  #free: number
  readonly #waiting: Waiting[] = []
  readonly #running = new Map<string, number>()
  /** When each waiting tenant last had its turn: a count, not a time. */
  readonly #lastTurn = new Map<string, number>()
  #turns = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
    this.#free = limits.slots
  }

  async run<T>(tenantId: string, weight: number, work: () => Promise<T>): Promise<T> {
    await this.#enter(tenantId, weight)
    try {
      return await work()
    } finally {
      this.#leave(tenantId, weight)
      this.#admit()
    }
  }

  #enter(tenantId: string, weight: number): Promise<void> {
    const { waiting, waitingPerTenant, waitMs, busy } = this.#limits
    return new Promise((resolve, reject) => {
      const own = this.#waiting.filter((one) => one.tenantId === tenantId)
      if (this.#waiting.length >= waiting || own.length >= waitingPerTenant) return reject(busy())
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        this.#forget(tenantId)
        reject(busy())
        // One that was too heavy for what is free stood before lighter ones.
        this.#admit()
      }, waitMs)
      const one = {
        tenantId,
        weight,
        enter: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(one)
      this.#admit()
    })
  }

  #leave(tenantId: string, weight: number): void {
    this.#free += weight
    const running = this.#running.get(tenantId)! - weight
    if (running > 0) this.#running.set(tenantId, running)
    else this.#running.delete(tenantId)
    this.#forget(tenantId)
  }

  /** Of a tenant that neither runs nor waits nothing is kept. */
  #forget(tenantId: string): void {
    const isHere = this.#running.has(tenantId) || this.#waiting.some((one) => one.tenantId === tenantId)
    if (!isHere) this.#lastTurn.delete(tenantId)
  }

  #admit(): void {
    for (let next = this.#next(); next && next.weight <= this.#free; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#free -= next.weight
      this.#running.set(next.tenantId, this.#runningOf(next) + next.weight)
      this.#lastTurn.set(next.tenantId, ++this.#turns)
      next.enter()
    }
  }

  /** Whose turn it is. Where that one is too heavy for what is free, the others wait with it, else it would never come. */
  #next(): Waiting | undefined {
    const firsts = new Map<string, Waiting>()
    for (const one of this.#waiting) if (!firsts.has(one.tenantId)) firsts.set(one.tenantId, one)
    const { perTenant } = this.#limits
    const mayRun = [...firsts.values()].filter((one) => {
      const running = this.#runningOf(one)
      return running === 0 || running + one.weight <= perTenant
    })
    const rank = (one: Waiting) => [this.#runningOf(one), this.#lastTurn.get(one.tenantId) ?? 0] as const
    return mayRun.toSorted((a, b) => {
      const [[runningA, turnA], [runningB, turnB]] = [rank(a), rank(b)]
      return runningA - runningB || turnA - turnB
    })[0]
  }

  #runningOf({ tenantId }: Waiting): number {
    return this.#running.get(tenantId) ?? 0
  }
}
