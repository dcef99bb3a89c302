import type { DevicePolicy, Invite } from './device-policy.ts'
import type { HostedAgent } from './hosted-agents.ts'
import { TamperedRoomError } from './tampered-room-error.ts'
import type { ListedState } from './listed-view.ts'
import type { SealedToken } from './member-standing.ts'
import { type Card, readCard } from './room-device.ts'
import { readToken } from './signed-line.ts'

type Payload = Readonly<Record<string, unknown>>

/** The place of a line, and the list in force there. */
interface Place {
  readonly seq: number
  readonly policy: Pick<DevicePolicy, 'devices' | 'hosted' | 'revoked'>
}

/** What the lines of a room with a list have said of its devices. Keys are thumbprints. */
export class KnownDevices {
  readonly #room: string
  readonly cards = new Map<string, Card>()
  /** The devices that have answered an invitation. */
  readonly answers = new Map<string, string>()
  readonly invitedAs = new Map<string, string>()
  readonly tokens = new Map<string, SealedToken>()
  readonly hosted = new Map<string, HostedAgent>()
  /** Of a second device: the device on the list that has named it. Without `isAgreed`, it is a mere claim. */
  readonly vouchedBy = new Map<string, string>()
  /** The devices of the last list that was opened. */
  #listed: readonly string[] = []

  constructor(room: string) {
    this.#room = room
  }

  resume({ last, cards, answers, invitedAs, tokens, hosted = [], vouchedBy = [] }: ListedState): void {
    this.#listed = last.policy.devices
    for (const card of cards) this.cards.set(card.key, card)
    for (const [invite, card] of answers) this.answers.set(invite, card)
    for (const [key, who] of invitedAs) this.invitedAs.set(key, who)
    for (const [key, token] of tokens) this.tokens.set(key, token)
    for (const one of hosted) this.hosted.set(one.device, one)
    for (const [key, by] of vouchedBy) this.vouchedBy.set(key, by)
  }

  get state(): Omit<ListedState, 'last' | 'mks'> {
    return {
      cards: [...this.cards.values()],
      answers: [...this.answers],
      invitedAs: [...this.invitedAs],
      tokens: [...this.tokens],
      hosted: [...this.hosted.values()],
      vouchedBy: [...this.vouchedBy],
    }
  }

  /**
   * A list of the owner was opened. The agreement of a device that it no longer has ends, so a namer must name that device
   * again. `cards`: that the list brings.
   */
  follow({ devices, hosted = [] }: DevicePolicy, cards: readonly Card[]): void {
    const left = this.#listed.filter((key) => !devices.includes(key))
    for (const card of left.map((key) => this.cards.get(key))) if (card) this.cards.set(card.key, { ...card, member: undefined })
    this.#listed = devices
    for (const one of hosted) this.hosted.set(one.device, one)
    for (const card of cards) this.cards.set(card.key, card)
  }

  /**
   * The key of an invitation writes one thing only: the card of the device that answers it. The first answer counts. A device
   * that is known answers by a card that names the invitation: everybody can copy an old card. Other cards are of earlier
   * releases. A member cannot keep a device from answering by claiming it.
   */
  async answer(invite: Invite, payload: Payload, { seq, policy }: Place): Promise<void> {
    const card = payload['t'] === 'answer' ? await readCard(payload['card'], this.#room) : undefined
    if (!card) throw new TamperedRoomError('record', seq)
    if ('id_token' in payload && !readToken(payload)) throw new TamperedRoomError('record', seq)
    const { key } = card
    if (this.answers.has(invite.key)) return
    const mayReplace = card.member === invite.key || (this.vouchedBy.has(key) && !policy.revoked.includes(key))
    if (this.cards.has(key) && !(mayReplace && this.#isFree(key, policy))) return
    this.#replace(card, invite.for)
    this.answers.set(invite.key, key)
    if ('id_token' in payload) this.identify(key, payload, seq)
  }

  /**
   * A device names a second device of its member. Whom the owner had invited is the same for both. Everybody can have the
   * card, so only with a card that names the first device in turn may the owner let the second one in. Without it, the line is
   * kept for the rooms of earlier releases, and yields to any line that the device itself has agreed to.
   */
  async vouch(by: string, payload: Payload, { seq, policy }: Place): Promise<void> {
    const card = await readCard(payload['card'], this.#room)
    if (!card) throw new TamperedRoomError('record', seq)
    const { key } = card
    // The second device of an agent would read without the notice that the operator reads along.
    if (policy.hosted?.some(({ device }) => device === by)) return
    if (this.cards.has(key) && !(card.member === by && this.#isFree(key, policy))) return
    this.#replace(card, this.invitedAs.get(by))
    this.vouchedBy.set(key, by)
  }

  /** Whether the device is not on the list, was never hosted, and has not agreed to a namer that is on the list. */
  #isFree(key: string, { devices }: Place['policy']): boolean {
    const isTaken = isAgreed(this, key) && devices.includes(this.vouchedBy.get(key) ?? '')
    return !isTaken && !devices.includes(key) && !this.hosted.has(key)
  }

  /** Replaces everything that earlier lines said of a device that is not on the list. */
  #replace(card: Card, invitedAs: string | undefined): void {
    const { key } = card
    this.cards.set(key, card)
    this.vouchedBy.delete(key)
    this.tokens.delete(key)
    if (invitedAs === undefined) this.invitedAs.delete(key)
    else this.invitedAs.set(key, invitedAs)
    for (const [invite, answeredBy] of this.answers) if (answeredBy === key) this.answers.delete(invite)
  }

  /** The first token of a device counts. Whether it is valid is judged elsewhere: a bad one spoils nothing but itself. */
  identify(key: string, payload: Payload, seq: number): void {
    const token = readToken(payload)
    if (!token) throw new TamperedRoomError('record', seq)
    if (!this.tokens.has(key)) this.tokens.set(key, token)
  }
}

type Named = { readonly [Name in 'cards' | 'vouchedBy']: Pick<KnownDevices[Name], 'get'> }

/** Whether the device has agreed, by its card, to be a second device of the one that has named it. */
export function isAgreed({ cards, vouchedBy }: Named, key: string): boolean {
  const by = vouchedBy.get(key)
  return by !== undefined && cards.get(key)?.member === by
}
