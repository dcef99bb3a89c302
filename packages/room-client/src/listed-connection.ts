import { placeLine } from '@atrium/sealing/signed-request'
import { admitAnswered } from './admit-answered.ts'
import { callAsDevice } from './call-as-device.ts'
import { withHosted, without } from './list-changes.ts'
import type { Invite } from './device-policy.ts'
import { type NewList, sealList, sealNextList, sealRecord } from './listed-lines.ts'
import { ListedReader } from './listed-reader.ts'
import type { ListedView } from './listed-view.ts'
import { TokenJudge } from './member-standing.ts'
import { SentLists } from './sent-lists.ts'
import { assertWritable } from './writable-record.ts'
import { newInvitation } from './new-invitation.ts'
import { newRoomSecret, randomId } from './new-room-secret.ts'
import { tokenRecord } from './sealed-token.ts'
import { SpaceCallError } from './space-call-error.ts'
import type { AnswerOf, Entry } from './space-ops.ts'
import { TamperedRoomError } from './tampered-room-error.ts'
import { makeFetchJson } from './fetch-json.ts'
import type { Since } from './follow-room.ts'
import { leavingWith } from './leaving-with.ts'
import { type HostedAgent, mayHost } from './hosted-agents.ts'
import {
  type Invitation,
  type ListedEntry,
  type ListedRoomOptions,
  type Member,
  NotListedError,
  TokenRefusedError,
} from './listed-types.ts'
import { PagesAhead } from './pages-ahead.ts'
import { type Card, isEncryptionKey, readCard } from './room-device.ts'

const maxTries = 5

type NextList = (list: NewList) => NewList | undefined | Promise<NewList | undefined>

interface PageOptions {
  readonly waitMs: number
  readonly limit: number
  readonly signal: AbortSignal | undefined
  readonly retries?: number
  /** Of a held read, after its hold. Default: that of the options. */
  readonly timeoutMs?: number | undefined
}

/**
 * The requests of one device to one room, which may run at the same time as a held read. Throws SpaceCallError,
 * TamperedRoomError and the errors of listed-types.ts.
 */
export class ListedConnection {
  readonly owner: string
  readonly #options: ListedRoomOptions
  readonly #reader: ListedView
  readonly #judge: TokenJudge
  readonly #unread: Entry[] = []
  readonly #sent = new SentLists()
  readonly #pages = new PagesAhead((from, how: PageOptions) => this.#fetchPage(from, how))
  #taking: Promise<unknown> = Promise.resolve()
  /** Line 0, which stays the same if the room is made again because an answer was lost. */
  #first: ReturnType<typeof sealList> | undefined
  /** Every request reports it from then on, with the messages that no request has returned. */
  #tampered: TamperedRoomError | undefined

  /** `reader`: opens the lines in place of a new reader of this thread. */
  constructor(options: ListedRoomOptions, reader?: ListedView) {
    const { room, device, identityProvider, nowMs, owner = device.signing.thumbprint } = options
    this.#options = options
    this.owner = owner
    this.#reader = reader ?? new ListedReader({ room, owner, device })
    this.#judge = new TokenJudge(identityProvider, { fetchJson: makeFetchJson(options), nowMs })
  }

  async make(signal: AbortSignal | undefined): Promise<void> {
    const { room, device, name } = this.#options
    const list = { room, generation: 0, devices: [this.owner], revoked: [], mk: newRoomSecret().mk, invites: [], name }
    const { line, keys } = await (this.#first ??= sealList(list, device, () => device.encryption))
    try {
      await callAsDevice(this.#options, { op: 'make', room, access: keys.access, line }, { keys, signal })
    } catch (error) {
      // The answer of an attempt before may have been lost. Then line 0 is this one.
      if (!(error instanceof SpaceCallError) || error.error !== 'room_exists') throw error
      const request = { op: 'read' as const, room, limit: 1 }
      const { lines } = await callAsDevice(this.#options, request, { keys, signal }).catch(() => ({ lines: [] }))
      if (lines[0] !== placeLine(line, { seq: 0 })) throw error
    }
  }

  /** What was read and not yet returned. */
  async read(signal: AbortSignal | undefined): Promise<ListedEntry[]> {
    await this.#readNew(signal)
    return this.#withMembers(this.#unread.splice(0))
  }

  /** One page, for which the service may wait. */
  async readPage(how: Pick<PageOptions, 'waitMs' | 'limit' | 'timeoutMs'>, signal: AbortSignal | undefined) {
    const options = { ...how, signal, retries: 0 }
    const isEmpty = await this.#takePage((from) =>
      this.#pages.next(from, options, { ...options, waitMs: 0, timeoutMs: undefined }),
    )
    const { sinceCount: count, sinceEtag: etag } = this.#reader.position
    return { count, etag, isEmpty, entries: await this.#withMembers(this.#unread.splice(0)) }
  }

  async members(signal: AbortSignal | undefined): Promise<Member[]> {
    await this.#readNew(signal)
    return (await this.list()).members
  }

  async invitations(signal: AbortSignal | undefined): Promise<Invitation[]> {
    await this.#readNew(signal)
    return (await this.list()).invitations
  }

  /** The list at the last line that was read. */
  async list(): Promise<{ members: Member[]; invitations: Invitation[]; vouched: Member[] }> {
    const { policy, content } = this.#force()
    const invites = new Set(content.invites.map(({ key }) => key))
    const named = (keys: readonly string[]) => Promise.all(keys.map((key) => this.#member(key)))
    const members = await named(policy.devices.filter((key) => !invites.has(key)))
    return { members, invitations: await this.#invitations(), vouched: await named(this.#reader.vouched) }
  }

  /** Whether a list can be sealed to this device. Readers accept a card with an encryption key that is not valid. */
  async canSealTo(key: string): Promise<boolean> {
    const card = this.#reader.card(key)
    return card !== undefined && isEncryptionKey(card.epk)
  }

  #invitations(): Promise<Invitation[]> {
    const named = this.#reader.invites.map(async ({ invite, answer }) => {
      const answeredBy = answer && (await this.#member(answer.key))
      return { key: invite.key, invitedAs: invite.for, ...(answeredBy && { answeredBy }) }
    })
    return Promise.all(named)
  }

  /** Seals the ID token of this device. Without a provider, its readers judge it and this client does not. */
  async identify(idToken: string, signal: AbortSignal | undefined): Promise<Member> {
    const key = this.#options.device.signing.thumbprint
    const token = this.seal(idToken)
    const judged = { ...this.#reader.device(key), token: { token: idToken, at: token.at } }
    // By that time and not by the clock of this device, which may be slow.
    const standing = await this.#judge.judge(judged, [], Date.parse(token.at))
    if (!standing.ok && standing.reason !== 'unchecked') throw new TokenRefusedError(standing.reason)
    await this.append({ t: 'identity', ...token }, signal)
    await this.#readNew(signal)
    return this.#member(key)
  }

  /** An ID token as a record has it. */
  seal(idToken: string): { at: string; id_token: string } {
    return tokenRecord(idToken, this.#options.nowMs?.() ?? Date.now())
  }

  async #withMembers(entries: Entry[]): Promise<ListedEntry[]> {
    const keys = [...new Set(entries.map(({ author }) => author.key ?? ''))]
    const members = new Map(await Promise.all(keys.map(async (key) => [key, await this.#member(key)] as const)))
    return entries.flatMap((entry) => {
      const member = members.get(entry.author.key ?? '')
      return member ? [{ ...entry, member }] : []
    })
  }

  async #member(key: string): Promise<Member> {
    const { name, invitedAs, hostedAgent, vouchedBy } = this.#reader.card(key) ?? {}
    const standing = await this.#judge.judge(this.#reader.device(key), this.#reader.facts.issuers)
    return { key, name, invitedAs, ...(hostedAgent !== undefined && { hostedAgent }), ...(vouchedBy && { vouchedBy }), standing }
  }

  /** Signs, seals and appends a record. If the key changes meanwhile, it is sealed again with the new one. `dedupe`: it is stored once. */
  async append(record: object, signal: AbortSignal | undefined, dedupe = randomId()): Promise<number> {
    const { room, device } = this.#options
    await assertWritable(record, room)
    for (let tried = 1; ; tried++) {
      await this.#readNew(signal)
      const { keys } = this.#force()
      const line = await sealRecord(keys, { seen: this.#reader.seen, record, device })
      try {
        return (await callAsDevice(this.#options, { op: 'append', room, line, dedupe }, { keys, signal })).seq
      } catch (error) {
        if (reasonOf(error) !== 'bad_room_key' || tried >= maxTries) throw error
      }
    }
  }

  /** The invitation for somebody, as text. */
  async invite(who: string, signal?: AbortSignal): Promise<string> {
    const { invite, text } = await newInvitation(this.#options.room, this.owner, who)
    await this.open(invite, [], signal)
    return text
  }

  /**
   * Puts a new invitation on the list, unless one of `before` is open: invitations for the same person whose answers were
   * lost. One that was used or taken back is not put back: its link would open the room.
   */
  async open(invite: Invite, before: readonly string[] = [], signal?: AbortSignal): Promise<void> {
    await this.change((list) => {
      const isOpen = this.#reader.invites.some((one) => before.includes(one.invite.key) && !one.answer)
      if (isOpen || list.devices.includes(invite.key)) return undefined
      return { ...list, devices: [...list.devices, invite.key], invites: [...list.invites, invite] }
    }, signal)
  }

  /** Lets in the devices that have answered one of these invitations; by default, any invitation. */
  admit(signal: AbortSignal | undefined, isMeant: (invitation: Invitation) => boolean = () => true): Promise<Member[]> {
    return admitAnswered(this, { isMeant, needsTokens: this.#options.identityProvider !== undefined }, signal)
  }

  /** The removed devices keep what they could read. Nothing after this line is sealed with a key that they have. */
  async expel(keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    if (keys.includes(this.owner)) throw new TypeError('the owner cannot be removed')
    await this.change((list) => without(list, leavingWith(this.#reader.facts, keys)), signal)
  }

  /**
   * The consent of the owner: the device with this card, of an agent that the operator of the platform runs, reads and
   * writes from this line on. Every reader is told. Resolves to the device. A repeat changes nothing.
   */
  async host({ agent, card }: Omit<HostedAgent, 'device'>, signal: AbortSignal | undefined): Promise<string> {
    const device = await readCard(card, this.#options.room)
    await this.#readNew(signal)
    const one = { agent, device: device?.key ?? '', card }
    if (!device || !mayHost(one, this.#force().policy, this.#reader.facts.hosted))
      throw new TypeError('not an agent with the card of a device of its own for this room')
    const isIn = this.#force().policy.devices.includes(device.key)
    if (!isIn) await this.change((list) => withHosted(list, one), signal, device)
    return device.key
  }

  /** Whether a list has named this device as that of a hosted agent, and the one in force does not have it. */
  async hasLeft(device: string, signal: AbortSignal | undefined): Promise<boolean> {
    await this.#readNew(signal)
    return this.#reader.facts.hosted.has(device) && !this.#force().policy.devices.includes(device)
  }

  /**
   * Writes a list that follows the newest one. `next` returns undefined if there is nothing to change. `joining`: a device
   * whose card no line has yet.
   */
  async change(next: NextList, signal: AbortSignal | undefined, joining?: Card): Promise<void> {
    const { room } = this.#options
    for (let tried = 1; ; tried++) {
      await this.#readNew(signal)
      const { policy, hash, content, keys, mk } = this.#force()
      const { generation, devices, revoked, hosted = [] } = policy
      const name = this.#options.name ?? content.owner.name
      const before = content.before === undefined ? {} : { before: content.before }
      const place = { room, seen: this.#reader.seen, prev: hash }
      const list = await next({ ...place, ...before, generation, devices, revoked, hosted, mk, invites: content.invites, name })
      if (!list) return
      // After the decision, which may have verified a token with another key.
      const issuers = this.#judge.keysToSeal(content.issuers)
      const epkOf = (key: string) => (joining?.key === key ? joining : this.#reader.card(key))?.epk
      const line = await sealNextList({ ...list, issuers }, content, this.#options.device, epkOf)
      try {
        this.#sent.add(line)
        await callAsDevice(this.#options, { op: 'append', room, line, dedupe: randomId() }, { keys, signal })
        await this.#readNew(signal)
        // The answer of the service does not prove that the list is in the room.
        if (!this.#sent.isRead(line)) throw new TamperedRoomError('count', this.#reader.position.sinceCount)
        return
      } catch (error) {
        if (!['bad_room_key', 'list_changed'].includes(reasonOf(error))) throw error
        await this.#readNew(signal)
        // An answer may have been lost. The list is in the room then, and refuses its own repeat, as does one that came after it.
        if (this.#sent.isRead(line)) return
        if (tried >= maxTries) throw error
      }
    }
  }

  async #readNew(signal: AbortSignal | undefined): Promise<void> {
    while (!(await this.#takePage((from) => this.#fetchPage(from, { signal }))));
  }

  /** Resolves to whether there was nothing new. */
  async #takePage(fetch: (from: Since) => Promise<AnswerOf<'read'>>): Promise<boolean> {
    const { position } = this.#reader
    const page = await fetch(position)
    const taken = this.#taking.then(async () => {
      if (this.#tampered) throw this.#tampered
      // Another request has read these lines meanwhile.
      if (this.#reader.position.sinceCount !== position.sinceCount) return false
      const entries = await this.#reader.take(page).catch(async (error: unknown) => {
        if (!(error instanceof TamperedRoomError)) throw error
        this.#tampered = error.with(await this.#withMembers([...this.#unread.splice(0), ...error.entries]))
        throw this.#tampered
      })
      for (const entry of entries) this.#unread.push(entry)
      this.#sent.read(page.lines)
      return page.lines.length === 0
    })
    this.#taking = taken.catch(() => undefined)
    return taken
  }

  async #fetchPage(from: Since, { signal, retries, timeoutMs, ...how }: Partial<PageOptions>): Promise<AnswerOf<'read'>> {
    // Before the first page, and after the key has changed, the list alone gives access to a device that is on it.
    const request = { op: 'read' as const, room: this.#options.room, ...from, ...how }
    return callAsDevice(this.#options, request, { keys: this.#reader.facts.newestKeys, signal, retries, timeoutMs })
  }

  #force() {
    const { force } = this.#reader
    if (!force) throw new NotListedError('bad_room_key')
    return force
  }
}

function reasonOf(error: unknown): string {
  return error instanceof SpaceCallError ? error.reason : ''
}
