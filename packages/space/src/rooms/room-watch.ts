import { Listener } from '@atrium/traffic/listener'
import { SpaceError } from '../space-error.ts'
import { roomChannel } from './store.ts'

const maxHeld = 20_000
const maxHeldPerAddress = 100

interface Held {
  address: string
  /** Whether it has looked, found nothing and waits. */
  waits: boolean
  wake: () => void
}

export interface Watch {
  /** Resolves at the first news since the watch began. */
  news: () => Promise<void>
  stop: () => void
}

/**
 * Holds polls until their room has news. One connection listens for all of them, so that a held poll costs a map entry and a timer.
 * When that connection breaks every poll is woken, and looks for itself.
 */
export class RoomWatch {
  readonly #listener: Listener
  readonly #held = new Map<string, Set<Held>>()
  readonly #perAddress = new Map<string, number>()
  #count = 0
  #closed = false

  constructor(url: string, onError: (error: Error) => void) {
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
   * Starts to listen for the room's next news, be there such a room or not. Begun before the room is read, so that nothing falls between.
   * undefined: no more is held, since the service stops.
   */
  watch(room: string, address: string): Watch | undefined {
    if (this.#closed) return undefined
    const here = this.#perAddress.get(address) ?? 0
    if (this.#count >= maxHeld || here >= maxHeldPerAddress) throw new SpaceError('rate_limited', 'too many held polls', 5)
    const { promise, resolve } = Promise.withResolvers<void>()
    const held: Held = { address, waits: false, wake: resolve }
    const others = this.#held.get(room)
    if (others) others.add(held)
    else this.#held.set(room, new Set([held]))
    this.#count++
    this.#perAddress.set(address, here + 1)
    const news = () => {
      held.waits = true
      return promise
    }
    return { news, stop: () => this.#release(room, held) }
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

  #release(room: string, held: Held): void {
    const set = this.#held.get(room)
    if (!set?.delete(held)) return
    if (set.size === 0) this.#held.delete(room)
    this.#count--
    const left = (this.#perAddress.get(held.address) ?? 1) - 1
    if (left === 0) this.#perAddress.delete(held.address)
    else this.#perAddress.set(held.address, left)
  }
}
