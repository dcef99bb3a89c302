import type { Invite } from './device-policy.ts'
import type { HostedAgent } from './hosted-agents.ts'
import { TamperedRoomError } from './line-reader.ts'
import type { ListedState } from './listed-view.ts'
import type { SealedToken } from './member-standing.ts'
import { type Card, readCard } from './room-device.ts'
import { readToken } from './signed-line.ts'

type Payload = Readonly<Record<string, unknown>>

/** What the lines of a room with a list have said of its devices. Keys are thumbprints. */
export class KnownDevices {
  readonly #room: string
  readonly cards = new Map<string, Card>()
  /** The devices that have answered an invitation. */
  readonly answers = new Map<string, string>()
  readonly invitedAs = new Map<string, string>()
  readonly tokens = new Map<string, SealedToken>()
  readonly hosted = new Map<string, HostedAgent>()
  /** Of a second device: the device on the list that has named it. */
  readonly vouchedBy = new Map<string, string>()

  constructor(room: string) {
    this.#room = room
  }

  resume({ cards, answers, invitedAs, tokens, hosted = [], vouchedBy = [] }: ListedState): void {
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

  /** The key of an invitation writes one thing only: the card of the device that answers it. The first answer counts. */
  async answer(invite: Invite, payload: Payload, seq: number): Promise<void> {
    const card = payload['t'] === 'answer' ? await readCard(payload['card'], this.#room) : undefined
    if (!card) throw new TamperedRoomError('record', seq)
    if ('id_token' in payload && !readToken(payload)) throw new TamperedRoomError('record', seq)
    if (this.answers.has(invite.key) || this.cards.has(card.key)) return
    this.answers.set(invite.key, card.key)
    this.cards.set(card.key, card)
    this.invitedAs.set(card.key, invite.for)
    if ('id_token' in payload) this.identify(card.key, payload, seq)
  }

  /**
   * A device names a second device of its member, which the owner may then add to the list. Whom the owner had invited is the
   * same for both. The first card of a device counts. `hosted`: of the list in force.
   */
  async vouch(by: string, payload: Payload, { seq, hosted }: { seq: number; hosted: readonly HostedAgent[] }): Promise<void> {
    const card = await readCard(payload['card'], this.#room)
    if (!card) throw new TamperedRoomError('record', seq)
    // Its second device would read without the notice that the operator reads along.
    if (hosted.some(({ device }) => device === by) || this.cards.has(card.key)) return
    this.cards.set(card.key, card)
    this.vouchedBy.set(card.key, by)
    const invitedAs = this.invitedAs.get(by)
    if (invitedAs !== undefined) this.invitedAs.set(card.key, invitedAs)
  }

  /** The first token of a device counts. Whether it is valid is judged elsewhere: a bad one spoils nothing but itself. */
  identify(key: string, payload: Payload, seq: number): void {
    const token = readToken(payload)
    if (!token) throw new TamperedRoomError('record', seq)
    if (!this.tokens.has(key)) this.tokens.set(key, token)
  }
}
