import type { Database } from '#db/database.ts'
import { ByShard } from '#features/distribution/by-shard.ts'
import type { TenantShards } from '#features/distribution/tenant-shards.ts'
import { numberFreeEvents } from '#features/events/numbering-store.ts'
import type { Place } from '#features/events/outbox-store.ts'
import { tenantsOf } from '#features/events/store.ts'
import { hasWaitingEvents, listHeads, listNews, type LogHead } from '#features/events/stream-store.ts'
import { Channel, channelName, channelNamesOf, type ChannelTarget, type CursorOrigin } from './channel.ts'
import { pageLoader } from './page.ts'

/** What this process knows of the log of a tenant while any of its streams is open. */
interface Feed {
  /** The sequence up to which the log is known; undefined: not yet read. */
  at: number | undefined
  /** The hash of the event at `at`, in the chain of events; null: not known. */
  hash: string | null
  channels: Map<string, Channel>
  /** Callers that wait for `at`. */
  joining: number
}

/** Tenants whose events are on a node that does not answer, with the error. */
type Failures = Map<string, unknown>

const batchSize = 500
const againMs = 100

interface EventFeedsOptions {
  db: Database
  tenantShards: TenantShards
  outbox: Place
  cursors: CursorOrigin
}

/**
 * The events of all streams that are open in this process. One query of the log serves all tenants, collections and
 * readers. Sequences are given after the commit and under a lock (see features/events), so a query always finds all
 * events up to the last one: an event that commits late gets a later sequence.
 */
export class EventFeeds {
  readonly #db: Database
  readonly #shards: TenantShards
  readonly #outbox: Place
  readonly #numbering: ByShard
  readonly #reading: ByShard
  readonly #cursors: CursorOrigin
  readonly #load
  readonly #feeds = new Map<string, Feed>()
  #running: Promise<Failures> = Promise.resolve(new Map())
  #next: Promise<Failures> | undefined
  #again: NodeJS.Timeout | undefined
  /** Whether the heads have to be compared with what is known of the logs: another server may have become the primary. */
  #hadGap = false

  constructor({ db, tenantShards, outbox, cursors }: EventFeedsOptions) {
    this.#db = db
    this.#shards = tenantShards
    this.#outbox = outbox
    this.#numbering = new ByShard(tenantShards)
    this.#reading = new ByShard(tenantShards)
    this.#cursors = cursors
    this.#load = pageLoader(db)
  }

  get isIdle(): boolean {
    return this.#feeds.size === 0
  }

  /** Whether a wake-up may concern one of the streams. */
  concerns(wakeUp: string): boolean {
    return tenantsOf(wakeUp)?.some((tenantId) => this.#feeds.has(tenantId)) ?? true
  }

  *channels(): Generator<Channel> {
    for (const { channels } of this.#feeds.values()) yield* channels.values()
  }

  /**
   * Returns the channel, which from now on receives all events. Everything that was committed before the call is
   * behind its position.
   */
  async join(target: ChannelTarget): Promise<Channel> {
    const feed = this.#feeds.get(target.tenantId) ?? { at: undefined, hash: null, channels: new Map(), joining: 0 }
    this.#feeds.set(target.tenantId, feed)
    feed.joining++
    try {
      const failures = await this.look()
      if (failures.has(target.tenantId)) throw failures.get(target.tenantId)
      const name = channelName(target)
      const known = feed.channels.get(name)
      if (known && !known.ended) return known
      const channel = new Channel(target, feed as { at: number }, this.#cursors, this.#load)
      feed.channels.set(name, channel)
      return channel
    } finally {
      feed.joining--
      // By the next turn of the event loop the caller has added its reader, or has failed.
      setImmediate(() => this.leave(target))
    }
  }

  /** Removes a channel without readers, and a tenant without channels. */
  leave(target: ChannelTarget): void {
    const feed = this.#feeds.get(target.tenantId)
    if (!feed) return
    const channel = feed.channels.get(channelName(target))
    if (channel?.readers.size === 0) feed.channels.delete(channel.name)
    if (feed.channels.size === 0 && feed.joining === 0) this.#feeds.delete(target.tenantId)
  }

  /**
   * Queries the log. The query begins after the call: calls made while one runs share the next. Returns the tenants whose
   * events could not be read; without a cluster it throws.
   */
  look(): Promise<Failures> {
    this.#next ??= this.#running
      .catch(() => this.noteGap())
      .then(() => {
        this.#next = undefined
        return (this.#running = this.#look())
      })
    return this.#next
  }

  /** Call it when a connection to the database was lost. The next look compares what is known of each log with its head. */
  noteGap(): void {
    this.#hadGap = true
  }

  close(): void {
    clearTimeout(this.#again)
  }

  async #look(): Promise<Failures> {
    const tenantIds = [...this.#feeds.keys()]
    const failures: Failures = new Map()
    if (tenantIds.length === 0) return failures
    // Before the logs are read on: what has come after the end of an old log is compared with that end.
    if (this.#hadGap) {
      this.#hadGap = false
      await this.#compareHeads()
    }
    // Checked first, because numbering locks each tenant's head, even if there is nothing to number.
    const isWaiting = await hasWaitingEvents(this.#db, tenantIds, this.#outbox)
    for (let isMore = true; isMore;) {
      const { results, failed } = isWaiting ? await this.#number(tenantIds) : { results: [], failed: new Map() }
      for (const [tenantId, error] of failed) failures.set(tenantId, error)
      isMore = (await this.#read(failures)) || results.some((numbered) => numbered >= batchSize)
    }
    // Last: everything that was committed before a stream was opened has its number by now, and is before the
    // stream's beginning.
    await this.#begin(failures)
    // Events that another process is numbering arrive shortly.
    if (isWaiting) this.#lookSoon()
    return failures
  }

  #number(tenantIds: string[]) {
    return this.#numbering.run(tenantIds, (ids) => numberFreeEvents(this.#db, ids, batchSize, this.#outbox))
  }

  /** Reads on from the position of each feed. Returns whether there may be more. */
  async #read(failures: Failures): Promise<boolean> {
    const positions = new Map<string, number>()
    for (const [tenantId, { at }] of this.#feeds) if (at !== undefined) positions.set(tenantId, at)
    if (positions.size === 0) return false
    const { results, failed } = await this.#reading.run([...positions.keys()], (ids) =>
      listNews(this.#db, new Map(ids.map((id) => [id, positions.get(id) ?? 0])), batchSize, this.#shards),
    )
    for (const [tenantId, error] of failed) failures.set(tenantId, error)
    const changed = new Set<Channel>()
    const replaced = new Set<Feed>()
    const counts = new Map<string, number>()
    for (const one of results.flat()) {
      counts.set(one.tenantId, (counts.get(one.tenantId) ?? 0) + 1)
      const feed = this.#feeds.get(one.tenantId)
      // A feed that was removed and added again during the query begins by itself.
      if (feed?.at === undefined || one.sequence <= feed.at) continue
      // After a failover, the log may lack its last events and have others with their sequences. Each read compares the
      // hashes, because a poll may reach the new primary before the listener has lost its connection.
      if (one.sequence === feed.at + 1 && differ(one.hashBefore, feed.hash)) replaced.add(feed)
      feed.at = one.sequence
      feed.hash = one.hash
      for (const name of channelNamesOf(one)) {
        const channel = feed.channels.get(name)
        if (!channel) continue
        channel.note(one)
        changed.add(channel)
      }
    }
    for (const feed of replaced) reset(feed)
    for (const channel of changed) for (const reader of channel.readers) reader.wake()
    return [...counts.values()].some((count) => count >= batchSize)
  }

  /** New feeds begin after the last sequence that was given. */
  async #begin(failures: Failures): Promise<void> {
    const begun = [...this.#feeds].filter(([tenantId, { at }]) => at === undefined && !failures.has(tenantId))
    if (begun.length === 0) return
    const heads = await listHeads(
      this.#db,
      begun.map(([tenantId]) => tenantId),
    )
    for (const [tenantId, feed] of begun) moveTo(feed, heads.get(tenantId))
  }

  /**
   * After a gap, the streams of a tenant get a reset if its log is shorter than what was known of it, or has another event
   * in the place of the last one. If it is longer, the next read compares the hashes.
   */
  async #compareHeads(): Promise<void> {
    const known = [...this.#feeds].filter(([, { at }]) => at !== undefined)
    if (known.length === 0) return
    const heads = await listHeads(
      this.#db,
      known.map(([tenantId]) => tenantId),
    )
    for (const [tenantId, feed] of known) {
      const head = heads.get(tenantId)
      const [at, last] = [feed.at ?? 0, head?.last ?? 0]
      if (last > at || (last === at && !differ(head?.hash, feed.hash))) continue
      moveTo(feed, head)
      reset(feed)
    }
  }

  #lookSoon(): void {
    this.#again ??= setTimeout(() => {
      this.#again = undefined
      this.look().catch(() => undefined)
    }, againMs).unref()
  }
}

function moveTo(feed: Feed, head: LogHead | undefined): void {
  feed.at = head?.last ?? 0
  feed.hash = head?.hash ?? null
}

/** Whether the hashes are of different events. False if one of them is not known. */
function differ(one: string | null | undefined, other: string | null): boolean {
  return typeof one === 'string' && other !== null && one !== other
}

/** The streams of a tenant with another log get a reset, and end: it gives other events the sequences that readers have seen. */
function reset({ at, channels }: Feed): void {
  for (const channel of channels.values()) for (const reader of channel.readers) reader.reset(at ?? 0)
}
