import { networkOf } from '@atrium/traffic/client-address'
import { Listener } from '@atrium/traffic/listener'
import { FairShares } from './fair-shares.ts'
import { roomChannel } from './store.ts'

interface Held {
  /** The end of the room as it was read; undefined: it has not been read yet. */
  etag: string | undefined
  wake: () => void
}

export interface Watch {
  /** `etag`: the end of the room as it was read. Resolves at the first news since the watch began, or when it is over. */
  news: (etag: string) => Promise<void>
  /** Whether its place was given to another: then it is answered with the current state. */
  isOver: () => boolean
  stop: () => void
}

interface RoomWatchOptions {
  url: string
  /** The ends of these rooms, by room. A room that does not exist has none. */
  readEnds: (rooms: string[]) => Promise<Map<string, string>>
  /** Called when the listener loses its connection. */
  onError: (error: Error) => void
  /** Called when the rooms cannot be read, at the first of several failures in a row. */
  onReadError: (error: Error) => void
  maxHeld?: number
}

/** How often the ends of the watched rooms are compared. */
const compareMs = 1_500
/** How many rooms one query reads. */
const maxCompared = 2_000

/**
 * Holds polls until their room has news. One connection listens for all of them, so a held poll costs a map entry
 * and a timer. If that connection breaks, every poll is woken and reads the room again. A notification is lost when
 * its sender ends between commit and notification: so every 1.5 s one query compares the ends of all rooms that are
 * waited for.
 */
export class RoomWatch {
  readonly #options: RoomWatchOptions
  readonly #listener: Listener
  readonly #held = new Map<string, Set<Held>>()
  /** A poll counts for its address, for its /56 if that is IPv6, and for its room. */
  readonly #shares: FairShares
  #timer: NodeJS.Timeout | undefined
  #isFailing = false
  #closed = false

  constructor(options: RoomWatchOptions) {
    const { url, onError, maxHeld = 20_000 } = options
    this.#options = options
    this.#shares = new FairShares({ total: maxHeld, most: { address: 100, network: 400, room: maxHeld / 4 } })
    this.#listener = new Listener({
      url,
      channel: roomChannel,
      onMessage: (room) => this.#wake(room),
      onGap: () => this.#wakeAll(),
      onError,
    })
  }

  async start(): Promise<void> {
    await this.#listener.start()
    this.#compareLater()
  }

  /** How many polls wait for news now. */
  get held(): number {
    let waiting = 0
    for (const set of this.#held.values()) for (const { etag } of set) if (etag !== undefined) waiting++
    return waiting
  }

  /**
   * Begins to wait for the room's next news. Called before the room is read, so that no news is missed in between.
   * undefined: the poll cannot be held, because the service stops or the caller has its share of places. Such a poll
   * is answered at once with the current state.
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
    const held: Held = { etag: undefined, wake: resolve }
    const others = this.#held.get(room)
    if (others) others.add(held)
    else this.#held.set(room, new Set([held]))
    const news = (etag: string) => {
      held.etag = etag
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

  /** Ends all held polls with the current state. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#wakeAll()
    await this.#listener.close()
  }

  #wakeAll(): void {
    for (const room of this.#held.keys()) this.#wake(room)
  }

  #wake(room: string): void {
    for (const held of this.#held.get(room) ?? []) held.wake()
  }

  #compareLater(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.#compare().then(
        () => {
          this.#isFailing = false
          this.#compareLater()
        },
        (error: Error) => {
          if (!this.#isFailing) this.#options.onReadError(error)
          this.#isFailing = true
          this.#compareLater()
        },
      )
    }, compareMs).unref()
  }

  async #compare(): Promise<void> {
    const rooms = [...this.#held.keys()]
    for (let from = 0; from < rooms.length; from += maxCompared) {
      const some = rooms.slice(from, from + maxCompared)
      // Only the polls that waited before the query: a later one may have read a newer end than the query.
      const waiting = some.flatMap((room) => [...(this.#held.get(room) ?? [])].map((held) => ({ room, held, etag: held.etag })))
      const ends = await this.#options.readEnds(some)
      for (const { room, held, etag } of waiting) if (etag !== undefined && ends.get(room) !== etag) held.wake()
    }
  }
}
