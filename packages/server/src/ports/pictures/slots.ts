interface Waiting {
  weight: number
  enter: () => void
}

export interface SlotLimits {
  slots: number
  /** How many may wait. */
  waiting: number
  waitMs: number
  /** What is thrown at one who would wait longer, or behind too many. */
  busy: () => Error
}

/** Lets so much work run at once, the rest in the order in which it came: heavy work is not overtaken by light work for ever. */
export class Slots {
  readonly #limits: SlotLimits
  #free: number
  readonly #waiting: Waiting[] = []

  constructor(limits: SlotLimits) {
    this.#limits = limits
    this.#free = limits.slots
  }

  async run<T>(weight: number, work: () => Promise<T>): Promise<T> {
    await this.#enter(weight)
    try {
      return await work()
    } finally {
      this.#free += weight
      this.#admit()
    }
  }

  #enter(weight: number): Promise<void> {
    const { waiting, waitMs, busy } = this.#limits
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= waiting) return reject(busy())
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        reject(busy())
        // One that was too heavy for what is free stood before lighter ones.
        this.#admit()
      }, waitMs)
      const one = {
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

  #admit(): void {
    while (this.#waiting[0] && this.#waiting[0].weight <= this.#free) {
      const next = this.#waiting.shift()!
      this.#free -= next.weight
      next.enter()
    }
  }
}
