import type { News } from '#features/events/stream-store.ts'
import type { Page, PageLoader } from './page.ts'
import { StreamCursor } from './stream-cursor.ts'

/**
 * What a stream sends. tenant: all events of the tenant. owner: the events of one collection. open and wall: the open
 * items of one collection, with a key and without.
 */
export interface ChannelTarget {
  kind: 'tenant' | 'owner' | 'open' | 'wall'
  tenantId: string
  /** Absent only for a tenant. */
  collectionId?: string
  /** A box shows its items to nobody, whatever access its owner gave them. */
  isBox?: boolean
}

export function channelName({ kind, tenantId, collectionId }: ChannelTarget): string {
  return `${kind}:${collectionId ?? tenantId}`
}

/** The names of the channels that may concern an event. */
export function channelNamesOf({ tenantId, collectionId, type, openItem }: News): string[] {
  const names = [`tenant:${tenantId}`]
  if (collectionId === null) return names
  if (/^(?:item|artifact|collection)\./.test(type)) names.push(`owner:${collectionId}`)
  if (openItem !== null || type === 'collection.deleted') names.push(`open:${collectionId}`, `wall:${collectionId}`)
  return names
}

/** One open connection that reads a channel. */
export interface ChannelReader {
  /** The channel has something new, or has ended. */
  wake(): void
  /** Sends the frame, which moves its cursor to `sequence`, if it has read everything up to there. */
  beat(frame: Buffer, sequence: number): void
  end(): void
}

/** How long a page is kept for readers that come to the same place. */
const pageKeptMs = 1_000

/**
 * What several readers of the same stream share in this process: each page is read from the database once, whether one
 * or 500 readers want it.
 */
export class Channel {
  readonly target: ChannelTarget
  readonly name: string
  readonly cursor: StreamCursor
  readonly readers = new Set<ChannelReader>()
  readonly #load: PageLoader
  readonly #feed: { readonly at: number }
  /** All that happened after this sequence was noted. */
  readonly #since: number
  readonly #pages = new Map<number, Promise<Page>>()
  #last: number
  #ended = false

  constructor(target: ChannelTarget, feed: { readonly at: number }, masterKeys: readonly Buffer[], load: PageLoader) {
    this.target = target
    this.name = channelName(target)
    this.cursor = new StreamCursor(masterKeys, this.name)
    this.#load = load
    this.#feed = feed
    this.#since = this.#last = feed.at
  }

  /** The sequence up to which the tenant's events are known here. */
  get at(): number {
    return this.#feed.at
  }

  /** Nothing follows any more: the collection is deleted. */
  get ended(): boolean {
    return this.#ended
  }

  note({ sequence, type }: News): void {
    this.#last = sequence
    if (type === 'collection.deleted' && this.target.kind !== 'tenant') this.#ended = true
  }

  /** Whether a reader at this sequence has read everything. */
  isRead(position: number): boolean {
    return position >= this.#since && this.#last <= position
  }

  /** What follows the sequence. Readers at the same place share one load. */
  pageAfter(position: number): Promise<Page> {
    const known = this.#pages.get(position)
    if (known) return known
    // What was committed before the query is in its result, so that a page that is not full is complete up to here.
    const { at } = this
    const page = this.#load(this, position, { upTo: at, mayBeExpired: position < this.#since })
    this.#pages.set(position, page)
    const forget = () => this.#pages.delete(position)
    page.then(() => setTimeout(forget, pageKeptMs).unref(), forget)
    return page
  }
}
