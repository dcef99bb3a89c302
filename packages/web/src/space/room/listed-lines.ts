import { ListedReader, type ListedReaderOptions } from '@atrium/room-client/listed-reader'
import type { ListedFacts, ListedState } from '@atrium/room-client/listed-view'
import type { Since } from '@atrium/room-client/follow-room'
import type { Entry } from '@atrium/room-client/space-ops'
import { LineCache } from './line-cache.ts'
import { entriesFrom, type LinePage, type OpenLines, withKept } from './sealed-lines.ts'

export interface ListedSecret extends ListedReaderOptions {
  /** In place of a room key, for what this device keeps. */
  readonly localMk: string
}

/**
 * Opens and checks the lines of a room with a list of devices, in a worker. What an earlier visit has opened comes from
 * the cache of this device, as in SealedLines. The lists and keys are in the cache, too, because lines are checked
 * against the lists before them.
 */
export class ListedLines implements OpenLines {
  readonly #reader: ListedReader
  readonly #cache: LineCache | undefined
  readonly #entries: Entry[]
  /** How many entries were returned. */
  #returned = 0
  /** How many lines were written to the cache. */
  #kept: number

  private constructor(reader: ListedReader, cache: LineCache | undefined, entries: Entry[]) {
    this.#reader = reader
    this.#cache = cache
    this.#entries = entries
    this.#kept = reader.hashes.length
  }

  static async open({ localMk, ...options }: ListedSecret): Promise<ListedLines> {
    const cache = await LineCache.open({ room: options.room, mk: localMk }, options.owner)
    const { hashes, entries } = (await cache?.read()) ?? { hashes: [], entries: [] }
    const state = (await cache?.readState(hashes.length)) as ListedState | undefined
    if (!state) return new ListedLines(new ListedReader(options), cache, [])
    const reader = await ListedReader.resume(options, { hashes, ids: entries.map(({ id }) => id), state })
    return new ListedLines(reader, cache, [...entries])
  }

  get position(): Since {
    return this.#reader.position
  }

  get facts(): ListedFacts {
    return this.#reader.facts
  }

  async take(page: LinePage): Promise<Entry[]> {
    try {
      for (const entry of await this.#reader.take(page)) this.#entries.push(entry)
    } catch (error) {
      throw withKept(error, this.#entries.slice(this.#returned))
    }
    const fresh = this.#entries.slice(this.#returned)
    this.#returned = this.#entries.length
    // Lines that wait for a key are kept once they were opened.
    const { state } = this.#reader
    if (page.lines.length > 0 && state) {
      const lines = { hashes: this.#reader.hashes, farewells: [] }
      void this.#cache?.write(this.#kept, lines, (seq) => entriesFrom(this.#entries, seq), state)
      this.#kept = lines.hashes.length
    }
    return fresh
  }
}
