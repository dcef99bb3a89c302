import {
  type ClientKeys,
  deriveClientKeys,
  derivePolicyKey,
  parseStoredLine,
  type StoredLine,
} from '@atrium/sealing/client-sealed'
import { openPolicyLine, parsePolicyLine, ROOM_KID, type StoredPolicyLine } from '@atrium/sealing/policy-line'
import { openDeviceRecipient, openKeyRecipient } from '@atrium/sealing/web-recipient'
import { type Invite, mayFollow, type OpenedContent, readContent, readPolicy } from './device-policy.ts'
import { type HostedAgent, readHosted } from './hosted-agents.ts'
import { sha256Base64url } from './identity.ts'
import { checkPage, checkSeen, TamperedRoomError } from './line-reader.ts'
import { type InForce, type ListedFacts, type ListedState, ListedView, type ListInForce } from './listed-view.ts'
import { KnownDevices } from './known-devices.ts'
import type { RoomDevice } from './room-device.ts'
import { checkSignature, handled, opened, openSigned, type Signed } from './signed-line.ts'
import type { AnswerOf, Entry } from './space-ops.ts'
import { findTurn } from './turn.ts'

interface Pending {
  readonly seq: number
  readonly line: StoredLine
  /** The policy in force at this place; of a line with a policy, this one. */
  readonly force: InForce
}

export interface ListedReaderOptions {
  room: string
  /** Thumbprint of the owner, without which the service could show a room of its own. */
  owner: string
  /** The device that reads. */
  device: Pick<RoomDevice, 'privateKey'> & { readonly signing: Pick<RoomDevice['signing'], 'thumbprint'> }
}

/**
 * Opens and checks the lines of a room with a list of devices, from its first line on, page by page. A line whose key is
 * not known yet is kept until a later line brings the key. After an error it reads no further.
 */
export class ListedReader extends ListedView {
  readonly #options: ListedReaderOptions
  readonly #hashes: string[] = []
  readonly #policies: InForce[] = []
  readonly #pending: Pending[] = []
  readonly #mks = new Map<number, string>()
  readonly #keys = new Map<number, ClientKeys>()
  readonly #devices: KnownDevices
  readonly #ids = new Set<string>()
  /** What all lists that were read have named. A line is judged by those before it, which #devices has. */
  readonly #hosted = new Map<string, HostedAgent>()
  /** The open invitations at the last line that was opened. */
  #invites = new Map<string, Invite>()
  /** The devices of the last list that was opened. */
  #listed: readonly string[] = []
  #failure: unknown

  constructor(options: ListedReaderOptions) {
    super()
    this.#options = options
    this.#devices = new KnownDevices(options.room)
  }

  /** Continues where a reader has been. `ids`: of the messages that it has returned. */
  static async resume(
    options: ListedReaderOptions,
    { hashes, ids, state }: { hashes: readonly string[]; ids: Iterable<string>; state: ListedState },
  ): Promise<ListedReader> {
    const reader = new ListedReader(options)
    const { last, mks } = state
    for (const hash of hashes) reader.#hashes.push(hash)
    for (const id of ids) reader.#ids.add(id)
    reader.#policies.push(last)
    for (const [generation, mk] of mks) {
      reader.#mks.set(generation, mk)
      reader.#keys.set(generation, await deriveClientKeys({ room: options.room, mk }, generation))
    }
    reader.#devices.resume(state)
    for (const [key, one] of reader.#devices.hosted) reader.#hosted.set(key, one)
    reader.#listed = last.policy.devices
    reader.#invites = new Map(last.content?.invites.map((invite) => [invite.key, invite]))
    return reader
  }

  /** Of each line that was read. */
  get hashes(): readonly string[] {
    return this.#hashes
  }

  /** For `resume`. undefined: lines wait for a key that a later line brings. */
  get state(): ListedState | undefined {
    const last = this.#policies.at(-1)
    if (!last?.content || this.#pending.length > 0 || this.#failure !== undefined) return undefined
    return { last, mks: [...this.#mks], ...this.#devices.state }
  }

  override get facts(): ListedFacts {
    const { cards, invitedAs, tokens, answers, hosted, vouchedBy } = this.#devices
    return {
      position: { sinceCount: this.#hashes.length, sinceEtag: this.#hashes.at(-1) ?? '' },
      force: this.#inForce,
      newestKeys: this.#keys.get(Math.max(-1, ...this.#keys.keys())),
      revoked: this.#policies.at(-1)?.policy.revoked ?? [],
      cards,
      invitedAs,
      tokens,
      invites: this.#invites,
      answers,
      hosted,
      vouchedBy,
      issuers: this.#policies.findLast(({ content }) => content !== undefined)?.content?.issuers ?? [],
    }
  }

  get #inForce(): ListInForce | undefined {
    const last = this.#policies.at(-1)
    const keys = last && this.#keys.get(last.policy.generation)
    const mk = last && this.#mks.get(last.policy.generation)
    if (!last?.content || !keys || mk === undefined) return undefined
    return { policy: last.policy, hash: last.hash, content: last.content, keys, mk }
  }

  /** How many lists this reader has read, how often the key has changed, how many names the newest list has, lines without a key, and hosted agents. */
  get summary() {
    const { generation, devices, hosted = [] } = this.#policies.at(-1)?.policy ?? { generation: 0, devices: [] }
    const agents = hosted.map(({ agent }) => agent)
    return { lists: this.#policies.length, generation, devices: devices.length, unopened: this.#pending.length, agents }
  }

  /** Checks the page that follows what was read, and returns the messages that it can open now. Throws TamperedRoomError. */
  override async take(page: AnswerOf<'read'>): Promise<Entry[]> {
    if (this.#failure) throw this.#failure
    try {
      return await this.#take(page)
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  async #take(page: AnswerOf<'read'>): Promise<Entry[]> {
    const from = this.#hashes.length
    const { stored, hashes } = await checkPage(page, this.#hashes, (line): StoredLine | StoredPolicyLine => {
      return parsePolicyLine(line) ?? parseStoredLine(line)
    })
    this.#hashes.push(...hashes)
    for (const [i, line] of stored.entries()) {
      const seq = from + i
      if ('policy' in line) this.#policies.push(await this.#follow(line, seq))
      const force = this.#policies.at(-1)
      if (!force) throw new TamperedRoomError('policy', seq)
      this.#pending.push({ seq, line, force })
    }
    await this.#unlock()
    return this.#drain()
  }

  /** Checks what the owner has signed in the clear. */
  async #follow(line: StoredPolicyLine, seq: number): Promise<InForce> {
    const policy = await readPolicy(line.policy)
    if (policy === 'signature') throw new TamperedRoomError('signature', seq)
    const last = this.#policies.at(-1)
    if (!policy || !mayFollow(policy, last, this.#options)) throw new TamperedRoomError('policy', seq)
    const hosted = await readHosted(policy, last?.policy, this.#hosted)
    if (!hosted) throw new TamperedRoomError('policy', seq)
    for (const one of policy.hosted ?? []) this.#hosted.set(one.device, one)
    checkSeen(policy.seen, seq, this.#hashes)
    // One by one: nobody has signed the recipients, so a `kid` may be a list, or a text with commas.
    const kids = [...policy.devices, ROOM_KID]
    const isSealedTo = line.recipients.length === kids.length && line.recipients.every(({ header }, i) => header.kid === kids[i])
    if (!isSealedTo) throw new TamperedRoomError('recipients', seq)
    return { seq, hash: this.#hashes[seq] ?? '', line, policy, hosted }
  }

  /** The newest first, because each line brings the key of the generation before its own. */
  async #unlock(): Promise<void> {
    for (const force of this.#policies.toReversed()) {
      if (force.content) continue
      const { seq, line, policy } = force
      const contentKey = await this.#findContentKey(force)
      if (contentKey === undefined) continue
      const text = await opened(openPolicyLine(contentKey ?? undefined, line), seq)
      if ((await sha256Base64url(text)) !== policy.content) throw new TamperedRoomError('sealed', seq)
      const content = await readContent(text, policy)
      if (!content) throw new TamperedRoomError('record', seq)
      await this.#learn(policy.generation, content.mk, seq)
      if (content.before !== undefined) await this.#learn(policy.generation - 1, content.before, seq)
      force.content = content
    }
  }

  /** undefined: it is for others only. null: it should open it, and does not. */
  async #findContentKey({ line, policy }: InForce) {
    const { device, room } = this.#options
    const own = line.recipients.find(({ header }) => header.kid === device.signing.thumbprint)
    if (own) return (await openDeviceRecipient(device.privateKey, own)) ?? null
    const mk = this.#mks.get(policy.generation)
    const ofRoom = line.recipients.at(-1)
    if (mk === undefined || !ofRoom) return undefined
    return (await openKeyRecipient(await derivePolicyKey({ room, mk }), ofRoom)) ?? null
  }

  async #learn(generation: number, mk: string, seq: number): Promise<void> {
    const known = this.#mks.get(generation)
    if (known === mk) return
    const { room } = this.#options
    const keys = await deriveClientKeys({ room, mk }, generation).catch(() => undefined)
    const signed = this.#policies.find(({ policy }) => policy.generation === generation)?.policy.access
    if (!keys || keys.access !== signed || known !== undefined) throw new TamperedRoomError('key', seq)
    this.#mks.set(generation, mk)
    this.#keys.set(generation, keys)
  }

  /** The lines are opened at the same time, and taken in their order. */
  async #drain(): Promise<Entry[]> {
    const ready: (Pending & { content: OpenedContent; opening: Promise<Signed> | undefined })[] = []
    for (const one of this.#pending) {
      const { force, line, seq } = one
      const keys = this.#keys.get(force.policy.generation)
      if (!force.content || !keys) break
      const opening = 'policy' in line ? undefined : handled(openSigned(keys, line, { seq, hashes: this.#hashes }))
      ready.push({ ...one, content: force.content, opening })
    }
    this.#pending.splice(0, ready.length)
    const entries: Entry[] = []
    const checks: Promise<void>[] = []
    try {
      for (const { seq, force, content, opening } of ready) {
        const signed = await opening
        if (!signed) {
          const { devices, hosted = [] } = force.policy
          this.#devices.leave(this.#listed.filter((key) => !devices.includes(key)))
          this.#listed = devices
          for (const one of hosted) this.#devices.hosted.set(one.device, one)
          for (const card of [content.owner, ...(force.hosted ?? [])]) this.#devices.cards.set(card.key, card)
          this.#invites = new Map(content.invites.map((invite) => [invite.key, invite]))
          continue
        }
        const entry = await this.#takeLine({ seq, force, signed }, checks)
        if (entry) entries.push(entry)
      }
    } finally {
      // What is wrong with an earlier line is reported first.
      for (const check of checks) await check
    }
    return entries
  }

  /** The message, if it is one. `checks` gets the check of its signature, which need not end before the next line is taken. */
  async #takeLine(
    { seq, force, signed }: { seq: number; force: InForce; signed: Signed },
    checks: Promise<void>[],
  ): Promise<Entry | undefined> {
    const { kid, payload } = signed
    const key = typeof kid === 'string' && force.policy.devices.includes(kid) ? kid : ''
    const invite = this.#invites.get(key)
    const author = invite ?? this.#devices.cards.get(key)
    if (!author) throw new TamperedRoomError('author', seq)
    const check = handled(checkSignature(signed, author.spk, seq))
    checks.push(check)
    if (invite || payload['t'] === 'identity' || payload['t'] === 'vouch') {
      // It changes what the next line is checked against.
      await check
      const place = { seq, policy: force.policy }
      if (invite) await this.#devices.answer(invite, payload, place)
      else if (payload['t'] === 'vouch') await this.#devices.vouch(key, payload, place)
      else this.#devices.identify(key, payload, seq)
      return undefined
    }
    const turn = findTurn(payload)
    if (!turn) throw new TamperedRoomError('record', seq)
    if (this.#ids.has(turn.id)) throw new TamperedRoomError('replay', seq)
    this.#ids.add(turn.id)
    const { id, at, text, reply_to: replyTo } = turn
    const name = this.#devices.cards.get(key)?.name
    return {
      seq,
      id,
      at,
      author: { kind: 'anonymous', ...(name !== undefined && { name }), key, proven: true },
      message: { text, ...(replyTo !== undefined && { reply_to: replyTo }) },
    }
  }
}
