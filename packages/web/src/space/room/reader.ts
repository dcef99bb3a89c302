import { followPages, pageLines, pastTheEnd, type Since } from '@atrium/room-client/follow-room'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import type { Entry, RoomPage } from '@atrium/room-client/space-ops'
import type { Store } from '../store.ts'
import { backoffMs, Naps } from './backoff.ts'
import type { Channel } from './channel.ts'
import { mergeEntries } from './chunks.ts'
import { isSignInOver } from './is-sign-in-over.ts'
import type { OwnEntries } from './own-entries.ts'
import { Retractions } from './retraction.ts'
import type { RoomState } from './room-state.ts'

/** The page size for older messages: few enough to render between two frames. */
const EARLIER_PAGE_LINES = 250
/** The shortest interval between polls when the service does not hold them because it already holds enough. */
const UNHELD_MS = 2_000
/** A held answer that is this much later than its hold will not arrive: the device slept, or a proxy dropped it. */
const HELD_TIMEOUT_MS = 10_000
/** The number of lines that are loaded at first. Older lines are loaded on demand. */
const EAGER_LINES = 6_000
/** A rejection lasts until the list or the sign-in changes, so the reader checks again only rarely. */
const REFUSED_MS = 5_000
const OFFLINE_MS = 30_000

const START: Since = { sinceCount: 0, sinceEtag: '' }

export interface ReaderEvents {
  /** Entries that came while the room was open. */
  readonly onNews: (entries: readonly Entry[]) => void
  /** Any entries, new or old. */
  readonly onEntries: (entries: readonly Entry[]) => void
  /** All there is has been read. */
  readonly onCaughtUp: () => void
}

interface PollOptions {
  readonly waitMs?: number
  readonly limit: number
  readonly signal: AbortSignal
}

/**
 * Follows a room. It reads new messages with held polls and backs off when there is no answer. It fetches older
 * messages page by page.
 */
export class Reader {
  readonly naps = new Naps()
  /** Entries by id, for quotes. */
  readonly byId = new Map<string, Entry>()
  readonly #retractions = new Retractions(this.byId)
  readonly #channel: Channel
  readonly #state: Store<RoomState>
  readonly #signal: AbortSignal
  readonly #events: ReaderEvents
  #since: Since = START
  #caughtUp = false
  /** How many lines there were when reading began. */
  #goal = 0
  /** The line from which on all has been fetched. */
  #from: number | undefined
  #request = new AbortController()

  constructor(channel: Channel, state: Store<RoomState>, signal: AbortSignal, events: ReaderEvents) {
    this.#channel = channel
    this.#state = state
    this.#signal = signal
    this.#events = events
  }

  /** Discards running requests, because the network or the identity has changed. */
  restart(): void {
    this.#request.abort()
    this.naps.wake()
  }

  async follow(): Promise<void> {
    let failures = 0
    while (!this.#signal.aborted && this.#state.value.phase !== 'tampered') {
      this.#request = new AbortController()
      const signal = AbortSignal.any([this.#signal, this.#request.signal])
      try {
        if (this.#from === undefined) await this.#begin(signal)
        for await (const page of this.#pages(signal)) {
          failures = 0
          this.#take(page)
        }
      } catch (error) {
        if (!signal.aborted) await this.naps.nap(this.#fail(error, ++failures), this.#signal)
      }
      this.#caughtUp = false
    }
  }

  #pages(signal: AbortSignal): AsyncGenerator<RoomPage, void, undefined> {
    return followPages((from) => this.#poll(from, { ...from, signal }), {
      since: this.#since,
      // After a failure, the first request does not wait for new lines, so that its answer shows that the service is
      // back.
      mayHold: () => this.#caughtUp,
      pause: () => this.naps.nap(UNHELD_MS * (0.75 + Math.random() / 2), signal),
      signal,
    })
  }

  /** Whether the message was read, or is one of those before the first that was fetched. */
  hasRead({ seq, id }: { seq: number; id: string }, own: OwnEntries): boolean {
    const entry = this.byId.get(id)
    return entry ? own.has(entry) : seq < (this.#from ?? 0)
  }

  async loadEarlier(lines = EAGER_LINES): Promise<void> {
    const end = this.#from ?? 0
    if (end === 0 || this.#state.value.loadingEarlier) return
    this.#state.update({ loadingEarlier: true })
    try {
      const start = Math.max(0, end - lines)
      for (let to = end; to > start;) {
        const from = Math.max(start, to - EARLIER_PAGE_LINES)
        await this.#fill(from, to)
        this.#from = to = from
        this.#state.update({ hasEarlier: from > 0 })
      }
    } catch {
      // On a failure, the messages loaded so far stay, and so does the button that requests more.
    } finally {
      this.#state.update({ loadingEarlier: false })
    }
  }

  /** Reads the lines of this range. A page may end before the range does. */
  async #fill(from: number, to: number): Promise<void> {
    for (let at = from; at < to;) {
      const { entries } = await this.#poll({ sinceCount: at, sinceEtag: '' }, { signal: this.#signal, limit: to - at })
      this.#add(entries.filter(({ seq }) => seq < to))
      const last = entries.at(-1)
      if (!last) return
      at = last.seq + 1
    }
  }

  async #poll(since: Since, { waitMs = 0, limit, signal }: PollOptions): Promise<RoomPage> {
    return this.#channel.read(since, { waitMs, limit, signal, ...(waitMs > 0 && { timeoutMs: HELD_TIMEOUT_MS }) })
  }

  /** A long room shows its newest messages first, so the first request asks for its end. */
  async #begin(signal: AbortSignal): Promise<void> {
    if (this.#channel.begin) {
      this.#since = await this.#channel.begin()
      this.#from = 0
      return
    }
    const { count } = await this.#poll(pastTheEnd, { signal, limit: 1 })
    this.#goal = count
    this.#from = Math.max(0, count - pageLines)
    this.#since = { sinceCount: this.#from, sinceEtag: '' }
  }

  #take({ entries, count, etag, policy, title }: RoomPage): void {
    const { phase, head } = this.#state.value
    // A full page may not be the last one, and a page of large lines ends early. The next request shows which it was,
    // and is answered at once.
    this.#caughtUp = count - this.#since.sinceCount < pageLines && count >= this.#goal
    this.#since = { sinceCount: count, sinceEtag: etag }
    this.#add(entries)
    this.#state.update({
      phase: this.#caughtUp ? 'open' : phase === 'open' ? 'open' : 'opening',
      opened: count,
      failure: undefined,
      link: 'online',
      policy,
      title,
      farewell: this.#channel.farewell,
      head: { count, etag },
      hasEarlier: (this.#from ?? 0) > 0,
      ...(count < (head?.count ?? 0) && { shrank: true }),
    })
    if (phase === 'open' && entries.length > 0) this.#events.onNews(entries)
    if (!this.#caughtUp) return
    this.#events.onCaughtUp()
    if (phase !== 'open') void this.loadEarlier()
  }

  #add(entries: readonly Entry[]): void {
    if (entries.length === 0) return
    for (const entry of entries) this.byId.set(entry.id, entry)
    this.#retractions.add(entries)
    const chunks = mergeEntries(this.#state.value.chunks, entries)
    this.#state.update({ chunks, retracted: this.#retractions.marks })
    this.#events.onEntries(entries)
  }

  /** Reports the error and returns the delay before the next attempt. */
  #fail(error: unknown, failures: number): number {
    if (error instanceof TamperedRoomError) {
      this.#add(error.entries)
      this.#state.update({ phase: 'tampered', failure: error, link: 'online' })
      return 0
    }
    if (!(error instanceof SpaceCallError) || error.status < 400) {
      this.#state.update({ link: navigator.onLine ? 'away' : 'offline' })
      return navigator.onLine ? backoffMs(failures) : OFFLINE_MS
    }
    if (error.isPassing) {
      if (error.status >= 500) this.#state.update({ link: 'troubled' })
      return Math.max((error.retryAfterSeconds ?? 0) * 1_000, backoffMs(failures))
    }
    const { phase } = this.#state.value
    if (error.status === 404) this.#close(phase === 'open' || phase === 'removed' ? 'removed' : 'missing', error)
    else if (phase === 'open' && isSignInOver(error)) this.#state.update({ failure: error, link: 'online' })
    else this.#close('refused', error)
    return REFUSED_MS
  }

  /**
   * Without access, no earlier contents are shown. What this device keeps of a client-sealed room stays, also if the service
   * says that there is no such room: otherwise it could come back with less, and nobody would notice.
   */
  #close(phase: 'refused' | 'missing' | 'removed', failure: unknown): void {
    this.byId.clear()
    this.#retractions.clear()
    this.#from = undefined
    this.#since = START
    const retracted = this.#retractions.marks
    const nothing = { chunks: [], retracted, hasEarlier: false, title: undefined, farewell: undefined, head: undefined }
    this.#state.update({ phase, failure, link: 'online', ...nothing })
  }
}
