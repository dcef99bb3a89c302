type Kind = 'address' | 'network' | 'room'

interface FairSharesOptions {
  readonly total: number
  /** The most places of one address, of one network and in one room. */
  readonly most: Readonly<Record<Kind, number>>
}

/** The holder of a place. */
export type Holders = { readonly address: string } & Readonly<Record<'network' | 'room', string | undefined>>

interface Place {
  holders: Holders
  giveUp: () => void
}

/**
 * Divides a fixed number of places. While places are free, each holder may have up to a fixed number. When all are
 * taken, the address with the most places gives up its oldest one to an address with fewer. So no number of greedy
 * addresses keeps out a new one. Each step is O(1).
 */
export class FairShares {
  readonly #options: FairSharesOptions
  readonly #byAddress = new Map<string, Set<Place>>()
  /** The addresses by their number of places. */
  readonly #byCount: Set<string>[] = []
  readonly #counts = { network: new Map<string, number>(), room: new Map<string, number>() }
  #taken = 0
  #most = 0

  constructor(options: FairSharesOptions) {
    this.#options = options
  }

  get taken(): number {
    return this.#taken
  }

  /**
   * Takes a place. Returns a function that releases it, once. `giveUp` is called when the place was given to
   * another, and is then released. undefined: no place is available.
   */
  take(holders: Holders, giveUp: () => void): (() => void) | undefined {
    const { total, most } = this.#options
    const mine = this.#byAddress.get(holders.address)?.size ?? 0
    if (mine >= most.address) return undefined
    for (const kind of ['network', 'room'] as const) if (this.#countOf(kind, holders) >= most[kind]) return undefined
    if (this.#taken >= total && !this.#makeRoom(mine)) return undefined
    const place: Place = { holders, giveUp }
    this.#add(place)
    return () => this.#remove(place)
  }

  /** A holder with just one more place keeps it: otherwise the two would take it from each other for ever. */
  #makeRoom(mine: number): boolean {
    if (this.#most <= mine + 1) return false
    const [greediest = ''] = this.#byCount[this.#most] ?? []
    const [oldest] = this.#byAddress.get(greediest) ?? []
    if (!oldest) return false
    this.#remove(oldest)
    oldest.giveUp()
    return true
  }

  #add(place: Place): void {
    const { address } = place.holders
    const places = this.#byAddress.get(address) ?? new Set()
    places.add(place)
    this.#byAddress.set(address, places)
    this.#move(address, places.size - 1, places.size)
    this.#change(place.holders, 1)
  }

  #remove(place: Place): void {
    const { address } = place.holders
    const places = this.#byAddress.get(address)
    if (!places?.delete(place)) return
    if (places.size === 0) this.#byAddress.delete(address)
    this.#move(address, places.size + 1, places.size)
    this.#change(place.holders, -1)
  }

  #move(address: string, from: number, to: number): void {
    this.#byCount[from]?.delete(address)
    if (to > 0) (this.#byCount[to] ??= new Set()).add(address)
    this.#most = Math.max(this.#most, to)
    while (this.#most > 0 && (this.#byCount[this.#most]?.size ?? 0) === 0) this.#most--
  }

  #change(holders: Holders, by: number): void {
    this.#taken += by
    for (const kind of ['network', 'room'] as const) {
      const holder = holders[kind]
      if (holder === undefined) continue
      const left = this.#countOf(kind, holders) + by
      if (left === 0) this.#counts[kind].delete(holder)
      else this.#counts[kind].set(holder, left)
    }
  }

  #countOf(kind: 'network' | 'room', { [kind]: holder }: Holders): number {
    return holder === undefined ? 0 : (this.#counts[kind].get(holder) ?? 0)
  }
}
