import type { Entry } from '@atrium/room-client/space-ops'
import { accountStore } from '../identity/account.ts'
import { ClaimedNames } from '../identity/claimed-name.ts'
import { loadCode } from '../load-code.ts'
import type { RoomLink } from '../room-link.ts'
import { Store } from '../store.ts'
import { type Channel, openChannel } from './channel.ts'
import type { ListedChannel } from './listed-channel.ts'
import { Reader } from './reader.ts'
import { emptyList, type RoomList } from './room-list.ts'
import { type Head, OPENING, type RoomState } from './room-state.ts'
import { Sender } from './sender.ts'
import { Vault } from './vault.ts'

interface Seen {
  /** The last line that was shown. */
  readonly readTo: number
  readonly head: Head
}

type OnNews = (entries: readonly Entry[], session: RoomSession) => void

/** A page that was hidden for longer may have slept: the answer to its held request may never come, and nothing says so. */
const SLEEP_MS = 20_000

/** One visit to a room, from opening its link until leaving it. */
export class RoomSession {
  readonly secret: RoomLink
  readonly vault: Vault
  readonly state = new Store<RoomState>(OPENING)
  /** Under which name a guest writes. */
  readonly names: ClaimedNames
  readonly reader: Reader
  readonly sender: Sender
  readonly channel: Channel
  /** Of a client-sealed room with a list. */
  readonly listed: ListedChannel | undefined
  readonly list: Store<RoomList>
  readonly #stopper = new AbortController()
  #headBefore: Head | undefined

  private constructor(secret: RoomLink, vault: Vault, listed: ListedChannel | undefined, onNews: OnNews) {
    this.secret = secret
    this.vault = vault
    const { signal } = this.#stopper
    this.names = new ClaimedNames(vault)
    const channel = listed ?? openChannel(secret)
    this.listed = listed
    this.list = listed?.list ?? emptyList()
    this.channel = channel
    signal.addEventListener('abort', () => channel.close())
    this.sender = new Sender(channel, vault, this.state, signal, {
      key: listed?.own.device.signing.thumbprint,
      nameOf: () => this.names.value.name,
      hasRead: (said) => this.reader.hasRead(said, this.sender.own),
    })
    this.reader = new Reader(channel, this.state, signal, {
      onNews: (entries) => onNews(entries, this),
      onEntries: (entries) => this.sender.reconcile(entries),
      onCaughtUp: () => void this.sender.sendAll(),
    })
  }

  static async open(secret: RoomLink, onNews: OnNews): Promise<RoomSession> {
    const listed = secret.kind === 'listed' ? await openListed(secret) : undefined
    const session = new RoomSession(secret, listed?.vault ?? (await Vault.open(secret)), listed, onNews)
    // Without the keys of this device, nobody can come back to the room.
    if (listed && !listed.own.isKept) session.state.update({ unkept: true })
    const { vault } = session
    // Earlier releases stored under the name of the room alone.
    const seen = (await vault.read<Seen>(vault.seenName)) ?? (await vault.read<Seen>('seen'))
    session.#headBefore = seen?.head
    session.state.update({ readTo: seen?.readTo, link: navigator.onLine ? 'online' : 'offline' })
    await Promise.all([session.sender.restore(), session.names.restore()])
    session.#listen()
    void session.reader.follow()
    return session
  }

  /** The end of the history, now and on the previous visit. It may only have grown. */
  get heads(): Head[] {
    return [this.#headBefore, this.state.value.head].filter((head) => head !== undefined)
  }

  stop(): void {
    this.#stopper.abort()
  }

  /** Whether the visitor has left. */
  get isOver(): boolean {
    return this.#stopper.signal.aborted
  }

  /** Tries again at once what waits to be tried. */
  retryNow(): void {
    this.reader.naps.wake()
    this.sender.naps.wake()
  }

  /** Stores how far the visitor has read, for the next visit. */
  markRead(readTo: number): void {
    const { head } = this.state.value
    if (head) void this.vault.write(this.vault.seenName, { readTo, head } satisfies Seen)
  }

  #listen(): void {
    const { signal } = this.#stopper
    const restart = () => {
      this.reader.restart()
      this.sender.naps.wake()
    }
    addEventListener('online', restart, { signal })
    addEventListener('offline', restart, { signal })
    let hiddenAtMs = Date.now()
    const show = () => {
      if (document.hidden) hiddenAtMs = Date.now()
      else if (Date.now() - hiddenAtMs > SLEEP_MS) restart()
      else this.retryNow()
    }
    document.addEventListener('visibilitychange', show, { signal })
    signal.addEventListener('abort', accountStore.subscribe(restart))
  }
}

/** Its code is not part of the first view. Without it, there is nothing to show. */
async function openListed(link: RoomLink): Promise<ListedChannel> {
  const { ListedChannel } = await loadCode(() => import('./listed-channel.ts'))
  return ListedChannel.open(link)
}
