interface Waiting {
  tenantId: string
  weight: number
  start: () => void
}

export interface FairLimits {
  permits: number
  /** How many permits one tenant may hold. Heavier work runs while the tenant holds nothing else. */
  permitsPerTenant: number
  maxWaiting: number
  maxWaitingPerTenant: number
  timeoutMs: number
  /** The error if too many wait, or the time has passed. */
  busy: () => Error
}

/**
 * A weighted semaphore that is fair between tenants. The next permit goes to the tenant with the fewest permits and,
 * among those, to the one that was served least recently: many jobs of one tenant do not delay the few of another.
 * Within a tenant the order is first come, first served, so that light work does not starve heavy work.
 */
export class FairSemaphore {
  readonly #limits: FairLimits
  #free: number
  readonly #waiting: Waiting[] = []
  readonly #running = new Map<string, number>()
  /** When each tenant was last served: a counter, not a time. */
  readonly #lastServed = new Map<string, number>()
  #served = 0

  constructor(limits: FairLimits) {
    this.#limits = limits
    this.#free = limits.permits
  }

  async run<T>(tenantId: string, weight: number, work: () => Promise<T>): Promise<T> {
    if (!this.#takeFree(tenantId, weight)) await this.#acquire(tenantId, weight)
    try {
      return await work()
    } finally {
      this.#release(tenantId, weight)
      this.#admit()
    }
  }

  /** If nobody waits, no order is needed, so this path costs neither a timer nor a search. */
  #takeFree(tenantId: string, weight: number): boolean {
    if (this.#waiting.length > 0 || weight > this.#free) return false
    const running = this.#running.get(tenantId) ?? 0
    if (running > 0 && running + weight > this.#limits.permitsPerTenant) return false
    this.#take(tenantId, weight)
    return true
  }

  #take(tenantId: string, weight: number): void {
    this.#free -= weight
    this.#running.set(tenantId, (this.#running.get(tenantId) ?? 0) + weight)
    this.#lastServed.set(tenantId, ++this.#served)
  }

  #acquire(tenantId: string, weight: number): Promise<void> {
    const { maxWaiting, maxWaitingPerTenant, timeoutMs, busy } = this.#limits
    return new Promise((resolve, reject) => {
      const own = this.#waiting.filter((one) => one.tenantId === tenantId)
      if (this.#waiting.length >= maxWaiting || own.length >= maxWaitingPerTenant) return reject(busy())
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        this.#forget(tenantId)
        reject(busy())
        // The removed work may have been too heavy for the free permits, and have blocked lighter work.
        this.#admit()
      }, timeoutMs)
      const one = {
        tenantId,
        weight,
        start: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(one)
      this.#admit()
    })
  }

  #release(tenantId: string, weight: number): void {
    this.#free += weight
    const running = (this.#running.get(tenantId) ?? 0) - weight
    if (running > 0) this.#running.set(tenantId, running)
    else this.#running.delete(tenantId)
    this.#forget(tenantId)
  }

  /** Forgets a tenant without running or waiting work, so that the maps stay bounded. */
  #forget(tenantId: string): void {
    const isHere = this.#running.has(tenantId) || this.#waiting.some((one) => one.tenantId === tenantId)
    if (!isHere) this.#lastServed.delete(tenantId)
  }

  #admit(): void {
    for (let next = this.#next(); next && next.weight <= this.#free; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#take(next.tenantId, next.weight)
      next.start()
    }
  }

  /**
   * The work that is served next. While it is too heavy for the free permits, all other work waits; otherwise it
   * would starve.
   */
  #next(): Waiting | undefined {
    const firsts = new Map<string, Waiting>()
    for (const one of this.#waiting) if (!firsts.has(one.tenantId)) firsts.set(one.tenantId, one)
    const { permitsPerTenant } = this.#limits
    const mayRun = [...firsts.values()].filter((one) => {
      const running = this.#runningOf(one)
      return running === 0 || running + one.weight <= permitsPerTenant
    })
    const lastServed = ({ tenantId }: Waiting) => this.#lastServed.get(tenantId) ?? 0
    return mayRun.toSorted((a, b) => this.#runningOf(a) - this.#runningOf(b) || lastServed(a) - lastServed(b))[0]
  }

  #runningOf({ tenantId }: Waiting): number {
    return this.#running.get(tenantId) ?? 0
  }
}
