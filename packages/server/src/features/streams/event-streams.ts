import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import { Listener } from '@atrium/traffic/listener'
import type { Db } from '#db/database.ts'
import { eventChannel } from '#features/events/store.ts'
import { listHeads } from '#features/events/stream-store.ts'
import type { KeyCache } from '#features/keys/key-cache.ts'
import { ApiError } from '#errors/api-error.ts'
import { channelName, type Channel, type ChannelTarget } from './channel.ts'
import { EventFeeds } from './event-feeds.ts'
import { StreamConnection } from './stream-connection.ts'
import { StreamCursor } from './stream-cursor.ts'
import { GuardCheck } from './stream-guard.ts'
import { StreamSlots } from './stream-slots.ts'

/** Notifications make it quick; looking by the clock makes it sure. */
const lookEveryMs = 1_000
/** Notifications of this time share a look. */
const gatherMs = 20
const beatEveryMs = 15_000
/** With the age of a key in memory, a key that was revoked is noticed within 15 seconds, also without a notification. */
const checkEveryMs = 2_500

interface EventStreamsOptions {
  db: Db
  databaseUrl: string
  log: Logger
  keyCache: KeyCache
  masterKeys: readonly Buffer[]
  limits: { perProcess: number; perAddress: number }
  registry: Registry
}

/** The streams that are open in this process. */
export class EventStreams {
  readonly slots: StreamSlots
  readonly #options: EventStreamsOptions
  readonly #feeds: EventFeeds
  readonly #guards: GuardCheck
  readonly #connections = new Set<StreamConnection>()
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
      setInterval(() => this.#look(), lookEveryMs).unref(),
      setInterval(() => this.#beat(), beatEveryMs).unref(),
      setInterval(() => void this.#check(), checkEveryMs).unref(),
    ]
    const gauge: Gauge = new Gauge({
      name: 'atrium_open_streams',
      help: 'Event streams that are open.',
      registers: [registry],
      collect: () => gauge.set(this.#connections.size),
    })
  }

  /** The sequence of a cursor of this stream. Throws invalid_cursor for any other. */
  readCursor(target: ChannelTarget, cursor: string): number {
    const sequence = new StreamCursor(this.#options.masterKeys, channelName(target)).open(cursor)
    if (sequence !== undefined) return sequence
    const details = [{ path: 'Last-Event-ID', message: 'is not a cursor of this stream' }]
    throw new ApiError('invalid_cursor', { details, message: 'Last-Event-ID: is not a cursor of this stream' })
  }

  /** A cursor of this stream behind all that is committed and numbered: what a page read afterwards shows is before it, or comes again. */
  async cursorOfNow(target: ChannelTarget): Promise<string> {
    const { db, masterKeys } = this.#options
    const heads = await listHeads(db, [target.tenantId])
    return new StreamCursor(masterKeys, channelName(target)).seal(heads.get(target.tenantId) ?? 0)
  }

  connections(): Iterable<StreamConnection> {
    return this.#connections
  }

  /** Throws where this process is about to stop. */
  assertOpen(): void {
    if (this.#isClosing) throw new ApiError('unavailable', { message: 'This process is stopping.', retryAfterSeconds: 1 })
  }

  /** Joins the channel and reads on from where it is. */
  async join(target: ChannelTarget): Promise<Channel> {
    this.#listen()
    return this.#feeds.join(target)
  }

  /** Opens a stream whose head is written. `position` undefined: from now on. */
  open(
    options: Omit<ConstructorParameters<typeof StreamConnection>[0], 'onError' | 'position'> & { position: number | undefined },
  ): void {
    const { channel, position, onClosed } = options
    const connection = new StreamConnection({
      ...options,
      position: position ?? channel.at,
      onError: (error) => this.#options.log.error({ err: error }, 'an event stream broke off'),
      onClosed: () => {
        this.#connections.delete(connection)
        this.#feeds.leave(channel.target)
        onClosed()
      },
    })
    this.#connections.add(connection)
    connection.begin(position === undefined)
  }

  /** Ends all streams: their clients connect again, to another process. */
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

  /** Listens from the first stream on: a process that streams nothing needs no connection for it. */
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
      onMessage: look,
      onGap: look,
      onError: (error) => log.error({ err: error }, 'notifications of events lost; reconnecting'),
    })
    this.#listener = listener
    listener.start().catch((error: unknown) => {
      // The next stream tries again; until then the clock suffices.
      this.#listener = undefined
      log.error({ err: error }, 'notifications of events not available; looking once a second')
    })
  }

  #look(): void {
    this.#feeds.look().then(
      () => {
        this.#isFailing = false
      },
      (error: unknown) => {
        // Once, not every second.
        if (!this.#isFailing) this.#options.log.error({ err: error }, 'events not read; trying again')
        this.#isFailing = true
      },
    )
  }

  /** Gives readers that are up to date a newer cursor: after a long quiet time the old one would have expired. */
  #beat(): void {
    for (const channel of this.#feeds.channels()) {
      const { at } = channel
      const frame = Buffer.from(`:\nid: ${channel.cursor.seal(at)}\n\n`)
      for (const reader of channel.readers) reader.beat(frame, at)
    }
  }

  async #check(): Promise<void> {
    if (this.#isChecking || this.#connections.size === 0) return
    this.#isChecking = true
    try {
      const connections = [...this.#connections]
      const holds = await this.#guards.check(connections.map(({ guard }) => guard))
      for (const connection of connections) if (!holds(connection.guard)) connection.end()
    } finally {
      this.#isChecking = false
    }
  }
}
