import { networkOf } from '@atrium/traffic/client-address'
import { Listener } from '@atrium/traffic/listener'
import { FairShares } from './fair-shares.ts'
import { roomChannel } from './store.ts'

interface Held {
  /** Whether it has looked, found nothing and waits. */
  waits: boolean
  wake: () => void
}

export interface Watch {
  /** Resolves at the first news since the watch began, or when `isOver`. */
  news: () => Promise<void>
  /** Whether its place went to another: it is to be answered with what there is. */
  isOver: () => boolean
  stop: () => void
}

/**
 * Holds polls until their room has news. One connection listens for all of them, so that a held poll costs a map entry and a timer.
 * When that connection breaks every poll is woken, and looks for itself.
 */
export class RoomWatch {
  readonly #listener: Listener
  readonly #held = new Map<string, Set<Held>>()
  /** A poll counts for its address, for its /56 where that is IPv6, and for its room. */
  readonly #shares: FairShares
  #closed = false

  constructor(url: string, onError: (error: Error) => void, maxHeld = 20_000) {
    this.#shares = new FairShares({ total: maxHeld, most: { address: 100, network: 400, room: maxHeld / 4 } })
    this.#listener = new Listener({
      url,
      channel: roomChannel,
      onMessage: (room) => this.#wake(room),
      onGap: () => this.#wakeAll(),
      onError,
    })
  }

  start(): Promise<void> {
    return this.#listener.start()
  }

  /** How many polls wait for news now. */
  get held(): number {
    let waiting = 0
    for (const set of this.#held.values()) for (const { waits } of set) if (waits) waiting++
    return waiting
  }

  /**
   * Starts to listen for the room's next news. Begun before the room is read, so that nothing falls between. undefined: not held, because the
   * service stops or the caller has their share of what can be held. Such a poll is answered at once with what there is.
   */
  watch(room: string, address: string): Watch | undefined {
    if (this.#closed) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    let over = false
    const giveUp = () => {
      over = true
      resolve()
    }
    const release = this.#shares.take({ address, network: networkOf(address, 56), room }, giveUp)
    if (!release) return undefined
    const held: Held = { waits: false, wake: resolve }
    const others = this.#held.get(room)
    if (others) others.add(held)
    else this.#held.set(room, new Set([held]))
    const news = () => {
      held.waits = true
      return promise
    }
    const stop = () => {
      release()
      const set = this.#held.get(room)
      set?.delete(held)
      if (set?.size === 0) this.#held.delete(room)
    }
    return { news, isOver: () => over, stop }
  }

  /** Ends all that is held, with what there is. */
  async close(): Promise<void> {
    this.#closed = true
    this.#wakeAll()
    await this.#listener.close()
  }

  #wakeAll(): void {
    for (const room of this.#held.keys()) this.#wake(room)
  }

  #wake(room: string): void {
    for (const held of this.#held.get(room) ?? []) held.wake()
  }
}
