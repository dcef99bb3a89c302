import type { RoomSecret } from '@atrium/sealing/room-secret'
import { callSpace, type Entry, type PollAnswer, SpaceFailure } from '../api/space-client.ts'
import { presentIdentity } from '../identity/present.ts'
import type { Store } from '../store.ts'
import { backoffMs, Naps } from './backoff.ts'
import { mergeEntries } from './chunks.ts'
import { isSignInOver } from './is-sign-in-over.ts'
import type { RoomState } from './room-state.ts'

const PAGE_LINES = 500
/** More than any room holds. */
const BEYOND_LINES = 1_000_000
/** Behind what is being read: small enough to be drawn between two frames. */
const EARLIER_PAGE_LINES = 250
const HOLD_MS = 25_000
/** Where polls are not held, because the service holds enough of them, the room is not asked more often than this. */
const UNHELD_MS = 2_000
/** A held answer that is this late will not come: the device slept, or a proxy forgot it. */
const HOLD_TIMEOUT_MS = 35_000
/** Fetched without being asked for; what is older comes when someone wants to read it. */
const EAGER_LINES = 6_000
/** A refusal stands until the list or the sign-in changes, a wrong key for ever: looking now and then is enough. */
const REFUSED_MS = 5_000
const OFFLINE_MS = 30_000

export interface ReaderEvents {
  /** Entries that came while the room was open. */
  readonly onNews: (entries: readonly Entry[]) => void
  /** Any entries, new or old. */
  readonly onEntries: (entries: readonly Entry[]) => void
  /** All there is has been read. */
  readonly onCaughtUp: () => void
}

interface Since {
  readonly count: number
  readonly etag: string
}

interface PollOptions {
  readonly waitMs?: number
  readonly limit?: number
  readonly signal: AbortSignal
}

/** Follows a room: held polls for what is new, backoff when there is no answer, and the older messages page by page behind. */
export class Reader {
  readonly naps = new Naps()
  /** Entries by id, for quotes. */
  readonly byId = new Map<string, Entry>()
  readonly #secret: RoomSecret
  readonly #state: Store<RoomState>
  readonly #signal: AbortSignal
  readonly #events: ReaderEvents
  #since: Since = { count: 0, etag: '' }
  #caughtUp = false
  /** How many lines there were when reading began. */
  #goal = 0
  /** The line from which on all has been fetched. */
  #from: number | undefined
  #request = new AbortController()

  constructor(secret: RoomSecret, state: Store<RoomState>, signal: AbortSignal, events: ReaderEvents) {
    this.#secret = secret
    this.#state = state
    this.#signal = signal
    this.#events = events
  }

  /** What is under way counts no more: the network changed, or who asks. */
  restart(): void {
    this.#request.abort()
    this.naps.wake()
  }

  async follow(): Promise<void> {
    let failures = 0
    while (!this.#signal.aborted) {
      this.#request = new AbortController()
      const { signal } = this.#request
      try {
        if (this.#from === undefined) await this.#begin(AbortSignal.any([this.#signal, signal]))
        const askedAt = Date.now()
        const waitMs = this.#caughtUp ? HOLD_MS : 0
        const answer = await this.#poll(this.#since, {
          waitMs,
          signal: AbortSignal.any([this.#signal, signal]),
        })
        failures = 0
        const isUnheld = waitMs > 0 && answer.count === this.#since.count && Date.now() - askedAt < UNHELD_MS / 2
        this.#take(answer)
        if (isUnheld) await this.naps.nap(UNHELD_MS * (0.75 + Math.random() / 2), this.#signal)
      } catch (error) {
        this.#caughtUp = false
        if (this.#signal.aborted) return
        if (!signal.aborted) await this.naps.nap(this.#fail(error, ++failures), this.#signal)
      }
    }
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
      // It stays at what has come, and the button that asks for more stays, too.
    } finally {
      this.#state.update({ loadingEarlier: false })
    }
  }

  /** The lines of this range: a page may end before it does. */
  async #fill(from: number, to: number): Promise<void> {
    for (let at = from; at < to;) {
      const { entries } = await this.#poll({ count: at, etag: '' }, { signal: this.#signal, limit: to - at })
      this.#add(entries.filter(({ seq }) => seq < to))
      const last = entries.at(-1)
      if (!last) return
      at = last.seq + 1
    }
  }

  async #poll({ count, etag }: Since, { waitMs = 0, limit = PAGE_LINES, signal }: PollOptions): Promise<PollAnswer> {
    const { room, mk } = this.#secret
    // Also as a guest: the client_ids of one's own messages are shown to the key that wrote them.
    const { fields } = await presentIdentity(room)
    const request = { op: 'poll' as const, room, mk, sinceEtag: etag, sinceCount: count, waitMs, limit, ...fields }
    return callSpace(request, { signal, ...(waitMs > 0 && { timeoutMs: HOLD_TIMEOUT_MS }) })
  }

  /** A long room shows its newest messages first: so where it ends is asked before anything. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { count } = await this.#poll({ count: BEYOND_LINES, etag: '' }, { signal })
    this.#goal = count
    this.#from = Math.max(0, count - PAGE_LINES)
    this.#since = { count: this.#from, etag: '' }
  }

  #take({ entries, count, etag, policy, title }: PollAnswer): void {
    const { phase, head } = this.#state.value
    const end = entries.length >= PAGE_LINES ? entries.at(-1)!.seq + 1 : count
    // A full page may not be the last one, and one of large lines ends early. The next request will tell, and is answered at once.
    this.#caughtUp = end === count && count - this.#since.count < PAGE_LINES && count >= this.#goal
    this.#since = { count: end, etag: end === count ? etag : '' }
    this.#add(entries)
    this.#state.update({
      phase: this.#caughtUp ? 'open' : phase === 'open' ? 'open' : 'opening',
      failure: undefined,
      link: 'online',
      policy,
      title,
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
    this.#state.update({ chunks: mergeEntries(this.#state.value.chunks, entries) })
    this.#events.onEntries(entries)
  }

  /** Says what went wrong, and how long to wait before the next try. */
  #fail(error: unknown, failures: number): number {
    if (!(error instanceof SpaceFailure)) {
      this.#state.update({ link: navigator.onLine ? 'away' : 'offline' })
      return navigator.onLine ? backoffMs(failures) : OFFLINE_MS
    }
    if (error.isPassing) {
      if (error.status >= 500) this.#state.update({ link: 'troubled' })
      return Math.max(error.retryAfterMs ?? 0, backoffMs(failures))
    }
    const { phase } = this.#state.value
    if (error.status === 404) this.#close(phase === 'open' || phase === 'removed' ? 'removed' : 'missing', error)
    else if (phase === 'open' && isSignInOver(error)) this.#state.update({ failure: error, link: 'online' })
    else this.#close('refused', error)
    return REFUSED_MS
  }

  /** Who may not be here, sees nothing that was here. */
  #close(phase: 'refused' | 'missing' | 'removed', failure: unknown): void {
    this.byId.clear()
    this.#from = undefined
    this.#since = { count: 0, etag: '' }
    this.#state.update({ phase, failure, link: 'online', chunks: [], hasEarlier: false, title: undefined, head: undefined })
  }
}
