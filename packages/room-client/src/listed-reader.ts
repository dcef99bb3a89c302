import {
  type ClientKeys,
  deriveClientKeys,
  derivePolicyKey,
  openStoredLine,
  parseStoredLine,
  type Seen,
  type StoredLine,
} from '@atrium/sealing/client-sealed'
import { MAX_TOKEN_LENGTH } from '@atrium/identity/rs256-form'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { openPolicyLine, parsePolicyLine, ROOM_KID, type StoredPolicyLine } from '@atrium/sealing/policy-line'
import { openDeviceRecipient, openKeyRecipient } from '@atrium/sealing/web-recipient'
import { isSignedBy, parseJws } from './device-jws.ts'
import { type DevicePolicy, type Invite, mayFollow, readContent, readPolicy } from './device-policy.ts'
import { sha256Base64url } from './identity.ts'
import type { JudgedDevice, SealedIssuer, SealedToken } from './member-standing.ts'
import { checkPage, checkSeen, findTurn, TamperedRoomError } from './line-reader.ts'
import { type Card, readCard, type RoomDevice } from './room-device.ts'
import type { AnswerOf, Entry } from './space-ops.ts'

export const LINE_TYPE = 'atrium-line+jws'

/** A policy in force, its line, and what was sealed in it, once it was opened. */
interface InForce {
  readonly seq: number
  readonly hash: string
  readonly line: StoredPolicyLine
  readonly policy: DevicePolicy
  content?: NonNullable<Awaited<ReturnType<typeof readContent>>>
}

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
  device: RoomDevice
}

/**
 * Opens and checks the lines of a room with a list of devices, from its first line on, page by page. A line whose key is
 * not known yet is kept until a later line brings the key. After an error it reads no further.
 */
export class ListedReader {
  readonly #options: ListedReaderOptions
  readonly #hashes: string[] = []
  readonly #policies: InForce[] = []
  readonly #pending: Pending[] = []
  readonly #mks = new Map<number, string>()
  readonly #keys = new Map<number, ClientKeys>()
  readonly #cards = new Map<string, Card>()
  readonly #ids = new Set<string>()
  /** The open invitations at the last line that was opened, and the cards of devices that have answered. */
  #invites = new Map<string, Invite>()
  readonly #answers = new Map<string, string>()
  readonly #invitedAs = new Map<string, string>()
  readonly #tokens = new Map<string, SealedToken>()
  #failure: unknown

  constructor(options: ListedReaderOptions) {
    this.#options = options
  }

  /** Where the next page begins. */
  get position(): { sinceCount: number; sinceEtag: string } {
    return { sinceCount: this.#hashes.length, sinceEtag: this.#hashes.at(-1) ?? '' }
  }

  /** The last line that was read, for the header of the next one. */
  get seen(): Seen | undefined {
    const hash = this.#hashes.at(-1)
    return hash === undefined ? undefined : { seq: this.#hashes.length - 1, hash }
  }

  /** The policy in force, and the keys of its generation; undefined: this device has not got them. */
  get force() {
    const last = this.#policies.at(-1)
    const keys = last && this.#keys.get(last.policy.generation)
    const mk = last && this.#mks.get(last.policy.generation)
    if (!last?.content || !keys || mk === undefined) return undefined
    return { policy: last.policy, hash: last.hash, jws: last.line.policy, content: last.content, keys, mk }
  }

  /** The keys to sign a request with, which may be those of an earlier generation. */
  get newestKeys(): ClientKeys | undefined {
    return this.#keys.get(Math.max(-1, ...this.#keys.keys()))
  }

  /** How many lists there are, how often the key has changed, how many names the newest list has, and lines without a key. */
  get summary() {
    const { generation, devices } = this.#policies.at(-1)?.policy ?? { generation: 0, devices: [] }
    return { lists: this.#policies.length, generation, devices: devices.length, unopened: this.#pending.length }
  }

  /** What the reader knows of a device, for a judgement of its ID token. */
  device(key: string): JudgedDevice {
    const isRevoked = this.#policies.at(-1)?.policy.revoked.includes(key) ?? false
    return { key, token: this.#tokens.get(key), invitedAs: this.#invitedAs.get(key), isRevoked }
  }

  /** Keys of identity providers that the owner has seen, of the newest list that this device can open. */
  get issuers(): readonly SealedIssuer[] {
    return this.#policies.findLast(({ content }) => content !== undefined)?.content?.issuers ?? []
  }

  /** The card of a device by its thumbprint, and who the owner had invited when it answered. */
  card(key: string): (Card & { invitedAs?: string | undefined }) | undefined {
    const card = this.#cards.get(key)
    return card && { ...card, invitedAs: this.#invitedAs.get(key) }
  }

  /** The open invitations, each with the device that has answered it. */
  get invites(): { invite: Invite; answer: Card | undefined }[] {
    return [...this.#invites.values()].map((invite) => ({
      invite,
      answer: this.#cards.get(this.#answers.get(invite.key) ?? ''),
    }))
  }

  /** Checks the page that follows what was read, and returns the messages that it can open now. Throws TamperedRoomError. */
  async take(page: AnswerOf<'read'>): Promise<Entry[]> {
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
    if (!policy || !mayFollow(policy, this.#policies.at(-1), this.#options)) throw new TamperedRoomError('policy', seq)
    checkSeen(policy.seen, seq, this.#hashes)
    const kids = line.recipients.map(({ header }) => header.kid)
    if (kids.join() !== [...policy.devices, ROOM_KID].join()) throw new TamperedRoomError('recipients', seq)
    return { seq, hash: this.#hashes[seq] ?? '', line, policy }
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

  async #drain(): Promise<Entry[]> {
    const entries: Entry[] = []
    for (let next = this.#pending[0]; next; next = this.#pending[0]) {
      const { seq, line, force } = next
      const keys = this.#keys.get(force.policy.generation)
      if (!force.content || !keys) break
      if ('policy' in line) {
        this.#cards.set(force.policy.owner, force.content.owner)
        this.#invites = new Map(force.content.invites.map((invite) => [invite.key, invite]))
      } else {
        const entry = await this.#open({ seq, line, force }, keys)
        if (entry) entries.push(entry)
      }
      this.#pending.shift()
    }
    return entries
  }

  async #open({ seq, line, force }: Pending, keys: ClientKeys): Promise<Entry | undefined> {
    const { seen, content } = await opened(openStoredLine(keys, line), seq)
    checkSeen(seen, seq, this.#hashes)
    const jws = parseJws(content, LINE_TYPE)
    if (!jws) throw new TamperedRoomError('record', seq)
    const { kid, line: signed } = jws.header
    const key = typeof kid === 'string' && force.policy.devices.includes(kid) ? kid : ''
    const invite = this.#invites.get(key)
    const author = invite ?? this.#cards.get(key)
    if (!author) throw new TamperedRoomError('author', seq)
    if (signed !== (await sha256Base64url(line.header)) || !(await isSignedBy(content, author.spk)))
      throw new TamperedRoomError('signature', seq)
    if (invite) {
      await this.#answer(invite, jws.payload, seq)
      return undefined
    }
    if (jws.payload['t'] === 'identity') {
      this.#identify(key, jws.payload, seq)
      return undefined
    }
    const turn = findTurn(jws.payload)
    if (!turn) throw new TamperedRoomError('record', seq)
    if (this.#ids.has(turn.id)) throw new TamperedRoomError('replay', seq)
    this.#ids.add(turn.id)
    const { id, at, text, reply_to: replyTo } = turn
    const name = this.#cards.get(key)?.name
    return {
      seq,
      id,
      at,
      author: { kind: 'anonymous', ...(name !== undefined && { name }), key, proven: true },
      message: { text, ...(replyTo !== undefined && { reply_to: replyTo }) },
    }
  }

  /** The key of an invitation writes one thing only: the card of the device that answers it. The first answer counts. */
  async #answer(invite: Invite, payload: Readonly<Record<string, unknown>>, seq: number): Promise<void> {
    const card = payload['t'] === 'answer' ? await readCard(payload['card'], this.#options.room) : undefined
    if (!card) throw new TamperedRoomError('record', seq)
    if ('id_token' in payload && !readToken(payload)) throw new TamperedRoomError('record', seq)
    if (this.#answers.has(invite.key) || this.#cards.has(card.key)) return
    this.#answers.set(invite.key, card.key)
    this.#cards.set(card.key, card)
    this.#invitedAs.set(card.key, invite.for)
    if ('id_token' in payload) this.#identify(card.key, payload, seq)
  }

  /** The first token of a device counts. Whether it is valid is judged elsewhere: a bad one spoils nothing but itself. */
  #identify(key: string, payload: Readonly<Record<string, unknown>>, seq: number): void {
    const token = readToken(payload)
    if (!token) throw new TamperedRoomError('record', seq)
    if (!this.#tokens.has(key)) this.#tokens.set(key, token)
  }
}

function readToken({ id_token: token, at }: Readonly<Record<string, unknown>>): SealedToken | undefined {
  if (typeof token !== 'string' || token === '' || token.length > MAX_TOKEN_LENGTH) return undefined
  return typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { token, at } : undefined
}

async function opened<T>(work: Promise<T>, seq: number): Promise<T> {
  try {
    return await work
  } catch (error) {
    // TypeError: what was sealed is not UTF-8.
    if (error instanceof DamagedLine) throw new TamperedRoomError('sealed', seq)
    if (error instanceof TypeError) throw new TamperedRoomError('record', seq)
    throw error
  }
}
