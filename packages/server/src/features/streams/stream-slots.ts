import { limitAddress } from '@atrium/traffic/client-address'
import { ApiError } from '#errors/api-error.ts'

/** When a refused stream may try again: a stream that ends makes room at any time. */
const retryAfterSeconds = 10

interface Asked {
  tenantId: string
  address: string
  /** How many streams the tenant may have open. */
  tenantLimit: number
}

/** Bounds the streams that are open in this process: in all, for each tenant and for each address. */
export class StreamSlots {
  readonly #limits: { perProcess: number; perAddress: number }
  readonly #tenants = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  #open = 0

  constructor(limits: { perProcess: number; perAddress: number }) {
    this.#limits = limits
  }

  get open(): number {
    return this.#open
  }

  /** Takes a slot, or throws rate_limited. The caller calls what it returns once the stream has ended. */
  take({ tenantId, address, tenantLimit }: Asked): () => void {
    const { perProcess, perAddress } = this.#limits
    const from = limitAddress(address)
    if (this.#open >= perProcess) throw tooMany(`This server has ${perProcess} streams open`)
    if ((this.#tenants.get(tenantId) ?? 0) >= tenantLimit) throw tooMany(`This tenant has ${tenantLimit} streams open`)
    if ((this.#addresses.get(from) ?? 0) >= perAddress) throw tooMany(`Your address has ${perAddress} streams open`)
    this.#open++
    add(this.#tenants, tenantId, 1)
    add(this.#addresses, from, 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#open--
      add(this.#tenants, tenantId, -1)
      add(this.#addresses, from, -1)
    }
  }
}

function add(counts: Map<string, number>, key: string, difference: number): void {
  const count = (counts.get(key) ?? 0) + difference
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

function tooMany(what: string): ApiError {
  const message = `${what}, which is the limit. Close one that you no longer read, or try again later.`
  return new ApiError('rate_limited', { message, retryAfterSeconds })
}
