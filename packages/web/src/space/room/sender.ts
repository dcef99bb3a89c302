import { randomId } from '@atrium/room-client/new-room-secret'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { Entry } from '@atrium/room-client/space-ops'
import type { Store } from '../store.ts'
import { backoffMs, Naps } from './backoff.ts'
import type { Channel } from './channel.ts'
import { isSignInOver } from './is-sign-in-over.ts'
import { OwnEntries } from './own-entries.ts'
import { dropPending, keepPending, type Pending, readPending } from './outbox.ts'
import { formatRetraction } from './retraction.ts'
import type { RoomState } from './room-state.ts'
import type { Vault } from './vault.ts'

interface SenderOptions {
  /** Of this device, in a room with a list. */
  readonly key: string | undefined
  /** The name that a guest claims. */
  readonly nameOf: () => string | undefined
  /** Whether the message is part of the history that was read. The service alone is not believed. */
  readonly hasRead: (said: { seq: number; id: string }) => boolean
}

/**
 * Sends messages in their order and retries for as long as necessary. A message stays on this device until it has
 * come back as part of the history.
 */
export class Sender {
  /** The entries that were written here. */
  readonly own: OwnEntries
  readonly naps = new Naps()
  readonly #channel: Channel
  readonly #vault: Vault
  readonly #state: Store<RoomState>
  readonly #signal: AbortSignal
  readonly #options: SenderOptions
  #busy = false
  #failures = 0

  constructor(channel: Channel, vault: Vault, state: Store<RoomState>, signal: AbortSignal, options: SenderOptions) {
    this.#channel = channel
    this.#vault = vault
    this.own = new OwnEntries(vault, options.key)
    this.#state = state
    this.#signal = signal
    this.#options = options
  }

  /** What an earlier visit left unsent. */
  async restore(): Promise<void> {
    const [pending] = await Promise.all([readPending(this.#vault), this.own.restore()])
    this.#state.update({ pending })
  }

  send(text: string, replyTo: string | undefined): void {
    const clientId = randomId()
    const message: Pending = {
      clientId,
      text,
      at: new Date().toISOString(),
      state: 'waiting',
      ...(replyTo !== undefined && { replyTo }),
    }
    this.#state.update({ pending: [...this.#state.value.pending, message] })
    void keepPending(this.#vault, message).then((kept) => !kept && this.#state.update({ unkept: true }))
    void this.sendAll()
  }

  /** Retracts a message of this author. The retraction is sent like any other message, and only once. */
  retract(id: string): void {
    const text = formatRetraction(id)
    if (this.#state.value.pending.some((message) => message.text === text && message.state !== 'refused')) return
    this.send(text, id)
  }

  resend(clientId: string): void {
    this.#change(clientId, { state: 'waiting', failure: undefined })
    void this.sendAll()
  }

  /** Messages that are part of the history now, or were taken back. */
  drop(clientIds: readonly string[]): void {
    if (clientIds.length === 0) return
    for (const clientId of clientIds) void dropPending(this.#vault, clientId)
    const { pending } = this.#state.value
    const left = pending.filter(({ clientId }) => !clientIds.includes(clientId))
    if (left.length < pending.length) this.#state.update({ pending: left })
  }

  /**
   * Removes the messages whose entries are part of the history now. An answer may be lost, and nothing is sent again after
   * a farewell: where clients seal the lines, the clientId is the id.
   */
  reconcile(entries: readonly Entry[]): void {
    const { pending } = this.#state.value
    const read = pending.filter(({ clientId, entryId, text }) => {
      const entry = entries.find(({ id }) => id === (entryId ?? clientId))
      if (entry?.message.text === text) this.own.add(entry.id)
      return entry && this.own.has(entry)
    })
    this.drop(read.map(({ clientId }) => clientId))
  }

  /** Sends one after the other, in the order in which they were written. */
  async sendAll(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    try {
      for (let next = this.#next(); next && !this.#signal.aborted; next = this.#next()) await this.#sendOne(next)
    } finally {
      this.#busy = false
    }
  }

  #next(): Pending | undefined {
    const { phase, failure, link, pending, farewell } = this.#state.value
    const canSend = phase === 'open' && failure === undefined && link !== 'offline' && !farewell
    return canSend ? pending.find(({ state }) => state === 'waiting') : undefined
  }

  async #sendOne({ clientId, text, replyTo }: Pending): Promise<void> {
    this.#change(clientId, { state: 'sending' })
    try {
      const { seq, id } = await this.#channel.say({ clientId, text, replyTo, name: this.#options.nameOf() }, this.#signal)
      this.#failures = 0
      this.own.add(id)
      // The history may have arrived before this answer, especially if this answers a second attempt.
      if (this.#options.hasRead({ seq, id })) this.drop([clientId])
      else this.#change(clientId, { state: 'sent', entryId: id })
    } catch (error) {
      if (!this.#signal.aborted) await this.#fail(clientId, error)
    }
  }

  async #fail(clientId: string, failure: unknown): Promise<void> {
    if (failure instanceof SpaceCallError && failure.isPassing) {
      this.#change(clientId, { state: 'waiting' })
      const askedMs = (failure.retryAfterSeconds ?? 0) * 1_000
      await this.naps.nap(Math.max(askedMs, backoffMs(++this.#failures)), this.#signal)
    } else if (isSignInOver(failure)) {
      this.#change(clientId, { state: 'waiting' })
      this.#state.update({ failure })
    } else {
      this.#change(clientId, { state: 'refused', failure })
    }
  }

  #change(clientId: string, patch: Partial<Pending>): void {
    const pending = this.#state.value.pending.map((message) =>
      message.clientId === clientId ? { ...message, ...patch } : message,
    )
    this.#state.update({ pending })
  }
}
