import type { Logger } from 'pino'
import { Gauge, type Registry } from '#libraries/prom-client.js'
import { Listener } from '@atrium/traffic/listener'
import type { Database } from '#db/database.ts'
import type { Place } from '../events/outbox-store.ts'
import { eventChannel } from '../events/store.ts'
import { listHeads } from '../events/stream-store.ts'
import type { KeyCache } from '../keys/key-cache.ts'
import type { TenantShards } from '../distribution/tenant-shards.ts'
import { ApiError } from '#errors/api-error.ts'
import { type Channel, type ChannelTarget, type CursorOrigin, StreamCursor, channelName } from './channel.ts'
import { EventFeeds } from './event-feeds.ts'
import { StreamConnection } from './stream-connection.ts'
import { GuardCheck } from './stream-guard.ts'
import { limitAddress } from '@atrium/traffic/client-address'

/** Notifications make the streams fast; the timer makes them reliable. */
const pollIntervalMs = 1_000
/** Notifications within this time share a query. */
const gatherMs = 20
const heartbeatIntervalMs = 15_000
/**
 * Together with the age of a cached key, this ends a stream within 15 seconds of a revocation, even without a
 * notification.
 */
const checkIntervalMs = 2_500

interface EventStreamsOptions {
  db: Database
  databaseUrl: string
  tenantShards: TenantShards
  outbox: Place
  log: Logger
  keyCache: KeyCache
  cursors: CursorOrigin
  limits: { perProcess: number; perAddress: number }
  registry: Registry
}

export interface SentCursor {
  cursor: string
  /** The name in the details of an error: the header, or the pointer into the query. */
  sentAs: 'Last-Event-ID' | '/cursor'
}

/** The event streams that are open in this process. */
export class EventStreams {
  readonly slots: StreamSlots
  readonly #options: EventStreamsOptions
  readonly #feeds: EventFeeds
  readonly #guards: GuardCheck
  readonly #connections = new Set<StreamConnection>()
  /** Those whose collection the last check did not find. */
  readonly #deleted = new WeakSet<StreamConnection>()
  readonly #timers: NodeJS.Timeout[]
  #listener: Listener | undefined
  #gathering: NodeJS.Timeout | undefined
  #isChecking = false
  #isFailing = false
  #isClosing = false

  constructor(options: EventStreamsOptions) {
    const { db, keyCache, limits, registry } = options
    this.#options = options
    this.slots = new StreamSlots(limits)
    this.#feeds = new EventFeeds(options)
    this.#guards = new GuardCheck(db, keyCache)
    this.#timers = [
      setInterval(() => this.#look(), pollIntervalMs).unref(),
      setInterval(() => this.#beat(), heartbeatIntervalMs).unref(),
      setInterval(() => void this.#check(), checkIntervalMs).unref(),
    ]
    const gauge: Gauge = new Gauge({
      name: 'atrium_open_streams',
      help: 'Event streams that are open.',
      registers: [registry],
      collect: () => gauge.set(this.#connections.size),
    })
  }

  /**
   * The sequence of a cursor of this stream; Infinity if it is of the log before a restore. Throws invalid_cursor for any
   * other cursor; the error names where it was sent.
   */
  readCursor(target: ChannelTarget, { cursor, sentAs }: SentCursor): number {
    const sequence = new StreamCursor(this.#options.cursors, channelName(target)).open(cursor)
    if (sequence !== undefined) return sequence
    const message = 'is not a cursor of this stream'
    throw new ApiError('invalid_cursor', { details: [{ path: sentAs, message }], message: `${sentAs}: ${message}` })
  }

  /**
   * A cursor at the end of everything that is committed and numbered. Take it before a page is read: every event that
   * the page does not show comes after it, and one that it shows may come after it too.
   */
  async cursorOfNow(target: ChannelTarget): Promise<string> {
    const { db, cursors } = this.#options
    const heads = await listHeads(db, [target.tenantId])
    return new StreamCursor(cursors, channelName(target)).seal(heads.get(target.tenantId)?.last ?? 0)
  }

  connections(): Iterable<StreamConnection> {
    return this.#connections
  }

  /** Throws if this process is about to stop. */
  assertOpen(): void {
    if (this.#isClosing) throw new ApiError('unavailable', { message: 'This process is stopping.', retryAfterSeconds: 1 })
  }

  /** Joins the channel and reads on from its position. */
  async join(target: ChannelTarget): Promise<Channel> {
    this.#listen()
    return this.#feeds.join(target)
  }

  /** Opens a stream whose head is written. `position` undefined: the stream begins now. */
  open(
    options: Omit<ConstructorParameters<typeof StreamConnection>[0], 'onError' | 'position'> & { position: number | undefined },
  ): void {
    const { channel, position, onClosed } = options
    // The channel has read the log since the request came, so it has come to every cursor of this log. One beyond it is from
    // before a restore (Infinity), or from a primary whose standby took over without all of its events. On Citus,
    // heads commit before their events show on another node, so a cursor that was taken of a head in between may be beyond
    // too: its reader gets a reset that it did not need, and misses nothing.
    const isBeyond = position !== undefined && position > channel.at
    const connection = new StreamConnection({
      ...options,
      position: position === undefined || isBeyond ? channel.at : position,
      onError: (error) => this.#options.log.error({ err: error }, 'an event stream broke off'),
      onClosed: () => {
        this.#connections.delete(connection)
        this.#feeds.leave(channel.target)
        onClosed()
      },
    })
    this.#connections.add(connection)
    connection.begin(position === undefined ? 'ready' : isBeyond ? 'reset' : undefined)
  }

  /** Ends all streams. Their clients reconnect, to another process. */
  drain(): void {
    this.#isClosing = true
    for (const connection of this.#connections) connection.end()
  }

  async close(): Promise<void> {
    this.drain()
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#gathering)
    this.#feeds.close()
    await this.#listener?.close()
  }

  /** Listens only once there is a stream, so that a process without streams needs no connection for it. */
  #listen(): void {
    if (this.#listener) return
    const { databaseUrl, log } = this.#options
    const look = () => {
      if (this.#feeds.isIdle) return
      this.#gathering ??= setTimeout(() => {
        this.#gathering = undefined
        this.#look()
      }, gatherMs).unref()
    }
    const listener = new Listener({
      url: databaseUrl,
      channel: eventChannel,
      onMessage: (wakeUp) => this.#feeds.concerns(wakeUp) && look(),
      onGap: () => {
        this.#feeds.noteGap()
        look()
      },
      onError: (error) => {
        // Before the listener is back, a poll may already read from another primary.
        this.#feeds.noteGap()
        log.error({ err: error }, 'notifications of events lost; reconnecting')
      },
    })
    this.#listener = listener
    listener.start().catch((error: unknown) => {
      // The next stream tries again; until then the timer suffices.
      this.#listener = undefined
      log.error({ err: error }, 'notifications of events not available; polling once a second')
    })
  }

  #look(): void {
    this.#feeds.look().then(
      ([first]) => this.#note(first?.[1]),
      (error: unknown) => this.#note(error),
    )
  }

  /** Logged once, and not every second. */
  #note(error: unknown): void {
    if (error !== undefined && !this.#isFailing) this.#options.log.error({ err: error }, 'events not read; trying again')
    this.#isFailing = error !== undefined
  }

  /**
   * Sends a newer cursor to readers that are up to date, because their old one would expire after a long quiet time.
   */
  #beat(): void {
    for (const channel of this.#feeds.channels()) {
      const { at } = channel
      const frame = Buffer.from(`:\nid: ${channel.cursor.seal(at)}\n\n`)
      for (const reader of channel.readers) reader.beat(frame, at)
    }
  }

  /**
   * Ends the streams of the tenant whose key or session was ended. Called at the notification of such a change, so that
   * nobody reads on until the next check.
   */
  async checkTenant(tenantId: string): Promise<void> {
    const concerned = [...this.#connections].filter(({ guard }) => guard.tenantId === tenantId && guard.keyHash !== undefined)
    if (concerned.length === 0) return
    const verdictOf = await this.#guards.check(concerned.map(({ guard }) => guard))
    for (const connection of concerned) if (verdictOf(connection.guard) === 'ended') connection.end()
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return
    if (this.#connections.size === 0) return this.#guards.skip()
    this.#isChecking = true
    try {
      const connections = [...this.#connections]
      const verdictOf = await this.#guards.check(connections.map(({ guard }) => guard))
      for (const connection of connections) {
        const verdict = verdictOf(connection.guard)
        // The event of a deletion ends its streams. What it has not ended by the next check ends without it.
        if (verdict === 'ended' || this.#deleted.has(connection)) connection.end()
        else if (verdict === 'deleted') this.#deleted.add(connection)
      }
    } finally {
      this.#isChecking = false
    }
  }
}

/** When a rejected stream may try again: any stream may end at any time. */
const retryAfterSeconds = 10

interface Asked {
  tenantId: string
  address: string
  /** How many streams the tenant may have open. */
  tenantLimit: number
}

/** Limits the open streams of this process: in total, per tenant and per IP address. */
class StreamSlots {
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

  /** Takes a slot, or throws rate_limited. The caller calls the returned function once the stream has ended. */
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
