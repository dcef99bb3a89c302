import { Listener } from '@atrium/traffic/listener'
import { SpaceError } from '../space-error.ts'
import { roomChannel } from './store.ts'

const maxHeld = 20_000
const maxHeldPerAddress = 100

interface Held {
  address: string
  wake: () => void
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

  constructor(url: string, onError: (error: Error) => void) {
    this.#listener = new Listener({
      url,
      channel: roomChannel,
      onMessage: (room) => this.#wake(room),
      onGap: () => this.wakeAll(),
      onError,
    })
  }

  start(): Promise<void> {
    return this.#listener.start()
  }

  get held(): number {
    return this.#count
  }

  /** Starts to listen for the room's next news. Begun before the room is read, so that nothing falls between. */
  watch(room: string, address: string): { news: Promise<void>; stop: () => void } {
    const here = this.#perAddress.get(address) ?? 0
    if (this.#count >= maxHeld || here >= maxHeldPerAddress) throw new SpaceError('rate_limited', 'too many held polls', 5)
    const { promise, resolve } = Promise.withResolvers<void>()
    const held: Held = { address, wake: resolve }
    const others = this.#held.get(room)
    if (others) others.add(held)
    else this.#held.set(room, new Set([held]))
    this.#count++
    this.#perAddress.set(address, here + 1)
    return { news: promise, stop: () => this.#release(room, held) }
  }

  async close(): Promise<void> {
    this.wakeAll()
    await this.#listener.close()
  }

  wakeAll(): void {
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
