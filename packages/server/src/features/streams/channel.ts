import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto'
import { required } from '@atrium/contract/required'
import { randomBytes } from '#crypto/random.ts'
import type { News } from '../events/stream-store.ts'
import type { Page, PageLoader } from './page.ts'

const nonceBytes = 12
const tagBytes = 16
const logBytes = 3
const sequenceBytes = 5
const cursorBytes = nonceBytes + logBytes + sequenceBytes + tagBytes

/** What the cursors of all streams are made with. */
export interface CursorOrigin {
  /** From them, the keys of each stream derive. The first one seals. */
  keys: readonly KeyObject[]
  /** Names the logs of this database: after a restore, other events get the sequences that were given before it. */
  log: Buffer
}

/** `restoredAt`: when the database was restored; undefined: never. */
export function cursorOrigin(masterKeys: readonly Buffer[], restoredAt: string | undefined): CursorOrigin {
  return {
    // Key objects: Node would convert a key in bytes at every call.
    keys: masterKeys.map((key) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'atrium/streams/cursor/v1', 32))),
    ),
    log: (restoredAt === undefined ? Buffer.alloc(logBytes) : hash('sha256', restoredAt, 'buffer')).subarray(0, logBytes),
  }
}

/**
 * The cursors of one stream. A cursor is the name of the log and the tenant's sequence, sealed with AES-256-GCM under a
 * key of this stream alone. A reader of a public stream therefore does not learn how many other events there are, and a
 * cursor of another stream does not open.
 */
export class StreamCursor {
  readonly #keys: KeyObject[]
  readonly #log: Buffer

  constructor({ keys, log }: CursorOrigin, stream: string) {
    this.#keys = keys.map((key) => createSecretKey(createHmac('sha256', key).update(stream).digest()))
    this.#log = log
  }

  seal(sequence: number): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', required(this.#keys[0], 'there is a cursor key'), nonce)
    const position = Buffer.alloc(logBytes + sequenceBytes)
    this.#log.copy(position)
    position.writeUIntBE(sequence, logBytes, sequenceBytes)
    return Buffer.concat([nonce, cipher.update(position), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  /**
   * The sequence; Infinity: the cursor is of the log before a restore, so no event of this log comes after it; undefined:
   * it does not belong to this stream.
   */
  open(cursor: string): number | undefined {
    const sealed = Buffer.from(cursor, 'base64url')
    // Compared as text, because the decoder accepts several encodings of the same bytes.
    if (sealed.length !== cursorBytes || sealed.toString('base64url') !== cursor) return undefined
    for (const key of this.#keys) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      try {
        const position = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
        if (!position.subarray(0, logBytes).equals(this.#log)) return Infinity
        return position.readUIntBE(logBytes, sequenceBytes)
      } catch {
        // Sealed under another master key, or not by this server.
      }
    }
    return undefined
  }
}

/**
 * The contents of a stream. tenant: all events of the tenant. owner: the events of one collection. open and wall:
 * the open items of one collection, with a key and without.
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

/** The names of the channels that an event may concern. */
export function channelNamesOf({ tenantId, collectionId, type, openItem }: News): string[] {
  const names = [`tenant:${tenantId}`]
  if (collectionId === null) return names
  if (/^(?:item|artifact|collection)\./.test(type)) names.push(`owner:${collectionId}`)
  if (openItem !== null || type === 'collection.deleted') names.push(`open:${collectionId}`, `wall:${collectionId}`)
  return names
}

/** One open connection that reads a channel. */
export interface ChannelReader {
  /** Called when the channel has something new, or has ended. */
  wake(): void
  /** Sends the frame, which moves its cursor to `sequence`, if the connection has read everything up to there. */
  beat(frame: Buffer, sequence: number): void
  /** Says that events were lost, with a cursor of `sequence`, and ends. */
  reset(sequence: number): void
  end(): void
}

/** How long a page is cached for readers at the same position. */
const pageKeptMs = 1_000

/**
 * The state that readers of the same stream share in this process: each page is read from the database once, for one
 * reader or for 500.
 */
export class Channel {
  readonly target: ChannelTarget
  readonly name: string
  readonly cursor: StreamCursor
  readonly readers = new Set<ChannelReader>()
  readonly #load: PageLoader
  readonly #feed: { readonly at: number }
  /** All events after this sequence were noted. */
  readonly #since: number
  readonly #pages = new Map<number, Promise<Page>>()
  #last: number
  #ended = false

  constructor(target: ChannelTarget, feed: { readonly at: number }, cursors: CursorOrigin, load: PageLoader) {
    this.target = target
    this.name = channelName(target)
    this.cursor = new StreamCursor(cursors, this.name)
    this.#load = load
    this.#feed = feed
    this.#since = this.#last = feed.at
  }

  /** The sequence up to which the tenant's events are known to this process. */
  get at(): number {
    return this.#feed.at
  }

  /** The stream has ended: the collection is deleted. */
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

  /** Loads the page after the sequence. Readers at the same position share a load. */
  pageAfter(position: number): Promise<Page> {
    const known = this.#pages.get(position)
    if (known) return known
    // Everything that was committed before the query is in its result, so a page that is not full is complete up to
    // here.
    const { at } = this
    const page = this.#load(this, position, { upTo: at, mayBeExpired: position < this.#since })
    this.#pages.set(position, page)
    const forget = () => this.#pages.delete(position)
    page.then(() => setTimeout(forget, pageKeptMs).unref(), forget)
    return page
  }
}
