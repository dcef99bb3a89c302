import { type FoundFarewell, LineReader } from '@atrium/room-client/line-reader'
import type { Since } from '@atrium/room-client/follow-room'
import type { ListedFacts } from '@atrium/room-client/listed-view'
import type { AnswerOf, Entry } from '@atrium/room-client/space-ops'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { LineCache } from './line-cache.ts'

export type LinePage = Pick<AnswerOf<'read'>, 'lines' | 'count' | 'etag'>

/** The room of a worker. */
export interface OpenLines {
  readonly position: Since
  readonly farewell?: FoundFarewell | undefined
  readonly facts?: ListedFacts
  /** The messages that have not been returned, up to the end of this page. Throws TamperedRoomError. */
  take: (page: LinePage) => Promise<Entry[]>
}

/** Of the messages in the order of their lines, those from this line on. */
export function entriesFrom(entries: readonly Entry[], seq: number): readonly Entry[] {
  // The entry of line n is at most the nth.
  return entries.slice(entries.findLastIndex((entry) => entry.seq < seq) + 1)
}

/** What this device has kept is shown before the messages of a page only if that page continues it. */
export function withKept(error: unknown, kept: readonly Entry[]): unknown {
  if (!(error instanceof TamperedRoomError) || !error.isContinued) return error
  return error.with([...kept, ...error.entries])
}

/**
 * Opens and checks the lines of an open client-sealed room, in a worker. What an earlier visit has opened comes from the
 * cache of this device. It is returned with the first page of the service, and only if that page continues it.
 */
export class SealedLines implements OpenLines {
  readonly #reader: LineReader
  readonly #cache: LineCache | undefined
  readonly #entries: Entry[]
  /** How many entries were returned. */
  #returned = 0

  private constructor(reader: LineReader, cache: LineCache | undefined, entries: Entry[]) {
    this.#reader = reader
    this.#cache = cache
    this.#entries = entries
  }

  static async open(secret: RoomSecret): Promise<SealedLines> {
    const [keys, cache] = await Promise.all([deriveClientKeys(secret), LineCache.open(secret)])
    const { hashes, entries, farewells } = (await cache?.read()) ?? { hashes: [], entries: [], farewells: [] }
    const reader = new LineReader(keys, { hashes, ids: entries.map(({ id }) => id), farewells })
    return new SealedLines(reader, cache, [...entries])
  }

  /** Where the next page begins. */
  get position(): Since {
    return this.#reader.position
  }

  /** Of the lines that were taken or kept. Like the messages, it is shown with the first page of the service. */
  get farewell(): FoundFarewell | undefined {
    return this.#reader.farewell
  }

  async take(page: LinePage): Promise<Entry[]> {
    const from = this.position.sinceCount
    try {
      this.#entries.push(...(await this.#reader.take(page)))
    } catch (error) {
      throw withKept(error, this.#entries.slice(this.#returned))
    }
    const fresh = this.#entries.slice(this.#returned)
    this.#returned = this.#entries.length
    if (page.lines.length > 0) void this.#cache?.write(from, this.#reader, (seq) => entriesFrom(this.#entries, seq))
    return fresh
  }
}
