import { type ClientKeys, deriveClientKeys, parseStoredLine, type StoredLine } from '@atrium/sealing/client-sealed'
import { openPolicyLine, parsePolicyLine, type StoredPolicyLine } from '@atrium/sealing/policy-line'
import { type CheckedPage, checkPage, withBeginning } from './check-page.ts'
import { type Invite, type OpenedContent, readContent } from './device-policy.ts'
import type { HostedAgent } from './hosted-agents.ts'
import { sha256Base64url } from './identity.ts'
import { KnownDevices } from './known-devices.ts'
import { type InForce, type ListedFacts, type ListedState, ListedView, type ListInForce } from './listed-view.ts'
import { findContentKey, readList } from './read-list.ts'
import type { RoomDevice } from './room-device.ts'
import { allPassed, checkSignature, handled, opened, openSigned, provenEntry, type Signed } from './signed-line.ts'
import type { AnswerOf, Entry } from './space-ops.ts'
import { TamperedRoomError } from './tampered-room-error.ts'
import { findTurn } from './turn.ts'

/** How often the beginning of a page is read. An owner who writes many wrong lists keeps no reader busy for long. */
const MAX_READS = 5

interface Pending {
  readonly seq: number
  readonly line: StoredLine
  /** The policy in force at this place; of a line with a policy, this one. */
  readonly force: InForce
}

/** A line whose keys are known. `opening`: of a line of an author. */
interface Ready extends Pending {
  readonly content: OpenedContent
  readonly opening: Promise<Signed> | undefined
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
  #hosted = new Map<string, HostedAgent>()
  /** The open invitations at the last line that was opened. */
  #invites = new Map<string, Invite>()
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

  async #take(page: AnswerOf<'read'>, reads = MAX_READS): Promise<Entry[]> {
    const from = this.#hashes.length
    const hosted = new Map(this.#hosted)
    let isContinued = false
    try {
      const checked = await checkPage(page, this.#hashes, (line): StoredLine | StoredPolicyLine => {
        return parsePolicyLine(line) ?? parseStoredLine(line)
      })
      isContinued = true
      await this.#readLists(checked)
    } catch (error) {
      if (!(error instanceof TamperedRoomError)) throw error
      // An earlier list may be found wrong once a later one has brought its key.
      this.#forget(Math.min(from, error.seq), hosted)
      if (reads === 1) throw error
      const lines = page.lines.slice(0, Math.max(0, error.seq - from))
      const take = (part: AnswerOf<'read'>) => this.#take(part, reads - 1)
      throw await withBeginning(error, { lines, isContinued, before: this.#hashes, take })
    }
    return this.#drain()
  }

  async #readLists({ stored, hashes }: CheckedPage<StoredLine | StoredPolicyLine>): Promise<void> {
    const from = this.#hashes.length
    // A page may be a whole room, and an engine limits how many arguments a call has.
    for (const hash of hashes) this.#hashes.push(hash)
    for (const [i, line] of stored.entries()) {
      const seq = from + i
      if ('policy' in line) {
        const before = { last: this.#policies.at(-1), hosted: this.#hosted, hashes: this.#hashes }
        const list = await readList(line, seq, { ...this.#options, ...before })
        for (const one of list.policy.hosted ?? []) this.#hosted.set(one.device, one)
        this.#policies.push(list)
      }
      const force = this.#policies.at(-1)
      if (!force) throw new TamperedRoomError('policy', seq)
      this.#pending.push({ seq, line, force })
    }
    await this.#unlock()
  }

  /** Forgets the lines from `end` on, which count no more. `hosted`: what the lists before them have named. */
  #forget(end: number, hosted?: Map<string, HostedAgent>): void {
    this.#hashes.length = Math.min(end, this.#hashes.length)
    for (const lines of [this.#policies, this.#pending]) {
      const at = lines.findIndex(({ seq }) => seq >= end)
      if (at >= 0) lines.length = at
    }
    if (hosted) this.#hosted = hosted
    // A key of an earlier generation stays, of which a list that counts has signed the access key.
    const newest = this.#policies.at(-1)?.policy.generation ?? -1
    for (const generations of [this.#mks, this.#keys])
      for (const one of generations.keys()) if (one > newest) generations.delete(one)
  }

  /** The newest first, because each line brings the key of the generation before its own. */
  async #unlock(): Promise<void> {
    for (const force of this.#policies.toReversed()) {
      if (force.content) continue
      const { seq, line, policy } = force
      const contentKey = await findContentKey(force, { ...this.#options, mk: this.#mks.get(policy.generation) })
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
    const ready: Ready[] = []
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
      try {
        await this.#takeLines(ready, entries, checks)
      } finally {
        // What is wrong with an earlier line is reported first.
        await allPassed(checks)
      }
    } catch (error) {
      if (!(error instanceof TamperedRoomError)) throw error
      this.#forget(error.seq)
      // A signature may be checked after the lines that follow it.
      throw new TamperedRoomError(error.problem, error.seq, {
        entries: entries.filter(({ seq }) => seq < error.seq),
        isContinued: true,
      })
    }
    return entries
  }

  async #takeLines(ready: readonly Ready[], entries: Entry[], checks: Promise<void>[]): Promise<void> {
    for (const { seq, force, content, opening } of ready) {
      const signed = await opening
      if (signed) {
        const entry = await this.#takeLine({ seq, force, signed }, checks)
        if (entry) entries.push(entry)
        continue
      }
      // It changes what is known of the devices, also of those that wrote before.
      await allPassed(checks)
      this.#devices.follow(force.policy, [content.owner, ...(force.hosted ?? [])])
      this.#invites = new Map(content.invites.map((invite) => [invite.key, invite]))
    }
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
    checks.push(handled(checkSignature(signed, author.spk, seq)))
    if (invite || payload['t'] === 'identity' || payload['t'] === 'vouch') {
      // It changes what the next line is checked against.
      await allPassed(checks)
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
    return provenEntry(turn, { seq, key, name: this.#devices.cards.get(key)?.name })
  }
}
