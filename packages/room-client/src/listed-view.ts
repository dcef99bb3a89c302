import type { ClientKeys, Seen } from '@atrium/sealing/client-sealed'
import type { StoredPolicyLine } from '@atrium/sealing/policy-line'
import type { DevicePolicy, Invite, OpenedContent } from './device-policy.ts'
import type { Since } from './follow-room.ts'
import type { HostedAgent } from './hosted-agents.ts'
import { isAgreed } from './known-devices.ts'
import type { Member } from './listed-types.ts'
import type { JudgedDevice, SealedIssuer, SealedToken } from './member-standing.ts'
import type { Card } from './room-device.ts'
import type { AnswerOf, Entry } from './space-ops.ts'

/** How many second devices of one member the owner is shown at once. */
const MAX_OFFERED = 5

/** A policy in force, its line, and what was sealed in it, once it was opened. */
export interface InForce {
  readonly seq: number
  readonly hash: string
  readonly line: StoredPolicyLine
  readonly policy: DevicePolicy
  /** The cards of the hosted agents. */
  readonly hosted?: readonly Card[]
  content?: OpenedContent
}

/** What another reader of the same device needs, besides the hashes and messages, to continue. JSON can hold it. */
export interface ListedState {
  readonly last: InForce
  readonly mks: readonly (readonly [generation: number, mk: string])[]
  readonly cards: readonly Card[]
  readonly answers: readonly (readonly [string, string])[]
  readonly invitedAs: readonly (readonly [string, string])[]
  readonly tokens: readonly (readonly [string, SealedToken])[]
  /** Absent in what was kept before there were hosted agents. */
  readonly hosted?: readonly HostedAgent[]
  /** Absent in what was kept before devices could name others. */
  readonly vouchedBy?: readonly (readonly [string, string])[]
}

/** The list in force, and the keys of its generation. */
export interface ListInForce {
  readonly policy: DevicePolicy
  /** Of its line. */
  readonly hash: string
  readonly content: OpenedContent
  readonly keys: ClientKeys
  readonly mk: string
}

/** What the lines of a room with a list say, up to the last one that was read. A worker can send it to its page. */
export interface ListedFacts {
  /** Where the next page begins. */
  readonly position: Since
  /** undefined: this device has not got the keys. */
  readonly force: ListInForce | undefined
  /** The keys to sign a request with, which may be those of an earlier generation. */
  readonly newestKeys: ClientKeys | undefined
  readonly revoked: readonly string[]
  /** Of devices, by thumbprint. */
  readonly cards: ReadonlyMap<string, Card>
  /** Whom the owner had invited when a device answered. */
  readonly invitedAs: ReadonlyMap<string, string>
  /** The first ID token that each device has sealed. */
  readonly tokens: ReadonlyMap<string, SealedToken>
  /** The open invitations, and the devices that have answered some of them. */
  readonly invites: ReadonlyMap<string, Invite>
  readonly answers: ReadonlyMap<string, string>
  /** All agents of an operator that a list has named, by device, also those that have left. */
  readonly hosted: ReadonlyMap<string, HostedAgent>
  /** Of second devices, the device on the list that has named each. */
  readonly vouchedBy: ReadonlyMap<string, string>
  /** Keys of identity providers that the owner has seen, of the newest list that this device can open. */
  readonly issuers: readonly SealedIssuer[]
}

/** Reads the lines of a room with a list, in this thread or in another one. */
export abstract class ListedView {
  abstract get facts(): ListedFacts

  /** Checks the page that follows what was read, and returns the messages that can be opened now. Throws TamperedRoomError. */
  abstract take(page: AnswerOf<'read'>): Promise<Entry[]>

  get position(): Since {
    return this.facts.position
  }

  /** The last line that was read, for the header of the next one. */
  get seen(): Seen | undefined {
    const { sinceCount, sinceEtag } = this.position
    return sinceCount === 0 ? undefined : { seq: sinceCount - 1, hash: sinceEtag }
  }

  get force(): ListInForce | undefined {
    return this.facts.force
  }

  get issuers(): readonly SealedIssuer[] {
    return this.facts.issuers
  }

  /** What is known of a device, for a judgement of its ID token. */
  device(key: string): JudgedDevice {
    const { tokens, invitedAs, revoked } = this.facts
    return { key, token: tokens.get(key), invitedAs: invitedAs.get(key), isRevoked: revoked.includes(key) }
  }

  /** The card of a device by its thumbprint, and who the owner had invited when it answered. */
  card(key: string): (Card & Partial<Pick<Member, 'invitedAs' | 'hostedAgent' | 'vouchedBy'>>) | undefined {
    const { cards, invitedAs, hosted, vouchedBy } = this.facts
    const card = cards.get(key)
    const by = hosted.has(key) ? undefined : vouchedBy.get(key)
    return (
      card && {
        ...card,
        invitedAs: invitedAs.get(key),
        hostedAgent: hosted.get(key)?.agent,
        ...(by !== undefined && { vouchedBy: { key: by, name: cards.get(by)?.name } }),
      }
    )
  }

  /**
   * Second devices that members have named, and that the owner has neither let in nor removed. Each has agreed to it. The
   * newest of each member are offered: one member cannot bury the others.
   */
  get vouched(): string[] {
    const { force, cards, vouchedBy } = this.facts
    const devices = new Set(force?.policy.devices)
    const known = new Set([...devices, ...(force?.policy.revoked ?? [])])
    const counts = new Map<string, number>()
    const offered: string[] = []
    for (const [key, by] of [...vouchedBy].toReversed()) {
      if (!devices.has(by) || known.has(key) || !isAgreed({ cards, vouchedBy }, key)) continue
      const count = (counts.get(by) ?? 0) + 1
      counts.set(by, count)
      if (count <= MAX_OFFERED) offered.push(key)
    }
    return offered.toReversed()
  }

  /** The open invitations, each with the device that has answered it. */
  get invites(): { invite: Invite; answer: Card | undefined }[] {
    const { invites, answers, cards } = this.facts
    return [...invites.values()].map((invite) => ({ invite, answer: cards.get(answers.get(invite.key) ?? '') }))
  }
}
