import type { Since } from '@atrium/room-client/follow-room'
import type { Turn } from '@atrium/room-client/turn'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import {
  type Invitation,
  isListedEntry,
  type ListedRoomOptions,
  ListFullError,
  type Member,
  TokenRefusedError,
} from '@atrium/room-client/listed-types'
import { keysOfAgent, type LeavingAgent, leavingWith, personOf } from '@atrium/room-client/leaving-with'
import { newInvitation } from '@atrium/room-client/new-invitation'
import { randomId } from '@atrium/room-client/new-room-secret'
import { admitVouched, vouchFor } from '@atrium/room-client/second-devices'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { RoomPage } from '@atrium/room-client/space-ops'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { type OwnDevice, ownDevice } from '../identity/room-device.ts'
import { dropRoomToken, findRoomToken, keepRoomToken } from '../identity/room-token.ts'
import { listedLink, ownerIn, type RoomLink } from '../room-link.ts'
import type { Channel, ReadOptions, Said } from './channel.ts'
import { DeviceStanding } from './device-standing.ts'
import { InvitationTexts } from './invitation-texts.ts'
import type { OtherMembers } from './kept-rooms.ts'
import { ListedOpener } from './listed-opener.ts'
import { optionsOf } from './listed-options.ts'
import { otherMembers, refreshMembers } from './other-members.ts'
import { emptyList } from './room-list.ts'
import { shownEntry } from './shown-entry.ts'
import { Vault } from './vault.ts'

/** A client-sealed room with a list, in which this device has keys of its own. */
export class ListedChannel implements Channel {
  readonly list = emptyList()
  readonly vault: Vault
  readonly own: OwnDevice
  readonly #options: ListedRoomOptions
  readonly #standing: DeviceStanding
  #opener: ListedOpener | undefined
  #connection: ListedConnection
  readonly #texts: InvitationTexts
  /** Settles when every invitation that was asked for is on the list or has failed. */
  #inviting: Promise<unknown> = Promise.resolve()
  /** Up to where messages were returned. */
  #returned = 0

  private constructor(options: ListedRoomOptions, own: OwnDevice, vault: Vault) {
    this.#options = options
    this.own = own
    this.vault = vault
    this.#standing = new DeviceStanding(options, vault)
    this.#connection = new ListedConnection(options)
    this.#texts = new InvitationTexts(vault, this.list, () => this.#connection.invitations(undefined))
  }

  static async open(link: RoomLink): Promise<ListedChannel> {
    const own = await ownDevice(link.room)
    const options = { ...(await optionsOf(own)), room: link.room, owner: ownerIn(link) }
    const vault = await Vault.open({ room: link.room, mk: own.localMk }, options.owner)
    return new ListedChannel(options, own, vault)
  }

  async begin(): Promise<Since> {
    this.#closeOpener()
    const { room, device } = this.#options
    const { privateKey, signing } = device
    const { thumbprint } = signing
    const { localMk } = this.own
    const owner = this.#connection.owner
    const opener = await ListedOpener.open({ room, owner, device: { privateKey, signing: { thumbprint } }, localMk })
    this.#opener = opener
    this.#connection = new ListedConnection(this.#options, opener)
    this.#returned = opener.position.sinceCount
    return opener.position
  }

  async read({ sinceCount }: Since, { signal, ...how }: ReadOptions): Promise<RoomPage> {
    // The messages of a page were lost, because the request was aborted after the page was read.
    if (!this.#opener || sinceCount !== this.#returned) await this.begin()
    const { count, etag, isEmpty, entries } = await this.#explained(this.#readPage(how, signal))
    if (!isEmpty || this.list.value.own === '') await ifListed(this.refresh())
    this.#returned = count
    return { count, etag, policy: 'email', entries: entries.map(shownEntry) }
  }

  /** Of a room that was tampered with, the messages before that are shown with their authors, too. */
  async #readPage(how: Omit<ReadOptions, 'signal'>, signal: AbortSignal) {
    try {
      return await this.#connection.readPage(how, signal)
    } catch (error) {
      if (!(error instanceof TamperedRoomError)) throw error
      await ifListed(this.#showList())
      throw error.with(error.entries.filter(isListedEntry).map(shownEntry))
    }
  }

  async say({ clientId, text, replyTo }: Said, signal: AbortSignal) {
    const turn: Turn = {
      t: 'turn',
      id: clientId,
      at: new Date().toISOString(),
      text,
      ...(replyTo !== undefined && { reply_to: replyTo }),
    }
    return { seq: await this.#explained(this.#connection.append(turn, signal, clientId)), id: clientId }
  }

  /**
   * Keeps the text of the invitation on this device, to be shown again. Asked for again after a failure, it adds nothing if
   * the list has the invitation from before, because only the answer was lost.
   */
  invite(who: string): Promise<void> {
    const done = this.#invite(who)
    this.#inviting = Promise.allSettled([this.#inviting, done])
    return done
  }

  async #invite(who: string): Promise<void> {
    const { invite, text } = await newInvitation(this.#options.room, this.#connection.owner, who)
    const before = await this.#texts.begin(who, invite.key, text)
    try {
      await this.#explained(this.#connection.open(invite, before))
    } catch (error) {
      if (!(error instanceof SpaceCallError && error.isPassing)) void this.#texts.finish(who)
      throw error
    }
    void this.#texts.release(who)
    await this.refresh()
    void this.#texts.finish(who)
  }

  /** Resolves to the text of the invitation, which is for the agent alone. */
  async inviteAgent(invitedAs: string): Promise<string> {
    const text = await this.#explained(this.#connection.invite(invitedAs, undefined))
    await this.refresh()
    return text
  }

  /** Lets in who was invited as this, if there is an answer. Resolves to whether that device is on the list. */
  async letIn(invitedAs: string): Promise<boolean> {
    const admitted = await this.#explained(this.#connection.admit(undefined, (one) => one.invitedAs === invitedAs))
    if (admitted.length > 0) await this.refresh()
    return (await this.#connection.list()).members.some((member) => member.invitedAs === invitedAs)
  }

  /**
   * The consent of the owner to a hosted agent, which every reader shows. Resolves to whether its device is on the list: one
   * that the owner has removed since stays away.
   */
  async host({ agent, card, device }: { agent: string; card: string; device: string }): Promise<boolean> {
    if (await this.#explained(this.#connection.hasLeft(device, undefined))) return false
    await this.#explained(this.#connection.host({ agent, card }, undefined))
    await this.refresh()
    return true
  }

  /** Removes the device, or that which was invited as this, or takes the invitation back. */
  async removeInvited(agent: LeavingAgent): Promise<void> {
    await this.#explained(this.#connection.members(undefined))
    const { members, invitations } = await this.#connection.list()
    const keys = keysOfAgent([...members, ...invitations], agent)
    if (keys.length > 0) await this.expel(keys)
  }

  /**
   * Lets in this device, if it is still the one that has answered this invitation, and the token allows it. The owner
   * judges each answer by itself. Resolves to whether the device is on the list, also because of an attempt before whose
   * answer was lost.
   */
  async admit(invitation: string, device: string): Promise<boolean> {
    const isMeant = ({ key, answeredBy }: Invitation) => key === invitation && answeredBy?.key === device
    await this.#explained(this.#connection.admit(undefined, isMeant))
    await this.refresh()
    return this.list.value.members.some(({ key }) => key === device)
  }

  /** Whether the device can receive the key of the room. */
  canSealTo(key: string): Promise<boolean> {
    return this.#connection.canSealTo(key)
  }

  /** Names a second device of this member by its card. */
  async vouch(card: string): Promise<void> {
    const { room, device } = this.#options
    await this.#explained(vouchFor(this.#connection, { room, card, own: device.signing.thumbprint }, undefined))
  }

  /** Lets in a second device that a member has named. Resolves to whether it is let in: the member may be removed by now. */
  async letInSecond(key: string): Promise<boolean> {
    await this.#explained(admitVouched(this.#connection, [key], undefined))
    await this.refresh()
    return this.list.value.members.some((member) => member.key === key)
  }

  /** Removes devices or invitations. The key changes. */
  async expel(keys: readonly string[]): Promise<void> {
    await this.#explained(this.#connection.expel(keys, undefined))
    await this.refresh()
  }

  /**
   * What leaves the list with this device: the devices that it has named, and open invitations for the same person.
   * `stay`: other devices of that person, which the owner has to remove, too.
   */
  removedWith(key: string): { members: Member[]; stay: Member[]; invitations: Invitation[] } {
    const keys = this.#opener ? leavingWith(this.#opener.facts, [key]) : []
    const isLeaving = (one: { key: string }) => one.key !== key && keys.includes(one.key)
    const { members, invitations, owner } = this.list.value
    const people = new Set(members.filter((one) => one.key === key || isLeaving(one)).flatMap(peopleOf))
    const stay = members.filter(
      (one) => ![key, owner, ...keys].includes(one.key) && peopleOf(one).some((person) => people.has(person)),
    )
    return { members: members.filter(isLeaving), stay, invitations: invitations.filter(isLeaving) }
  }

  get others(): OtherMembers {
    return otherMembers(this.list.value)
  }

  /** The list as it was read last. */
  async refresh(): Promise<void> {
    await this.#showList()
    void this.#texts.dropUnused()
    await this.#entered()
  }

  async #showList(): Promise<void> {
    const { members, invitations, vouched } = await this.#explained(this.#connection.list())
    const texts = await Promise.all(invitations.map(({ key }) => this.#texts.read(key)))
    const own = this.own.device.signing.thumbprint
    this.list.update({
      members,
      vouched,
      invitations: invitations.map((invitation, i) => ({ ...invitation, text: texts[i] })),
      owner: this.#connection.owner,
      own,
    })
    refreshMembers(listedLink(this.#options.room, this.#connection.owner), { members, own })
  }

  /** Ends the visit. The next one, also in this tab, drops the texts of invitations that the list does not have. */
  close(): void {
    this.#closeOpener()
    void this.#inviting.then(() => this.#texts.releaseAll())
  }

  #closeOpener(): void {
    // Held reads end with their signals.
    this.#opener?.close()
    this.#opener = undefined
  }

  async #entered(): Promise<void> {
    await this.#standing.enter()
    // Whoever has signed in to show who this is.
    const { room } = this.#options
    const account = findRoomToken(room)
    if (!account) return
    dropRoomToken(room)
    try {
      await this.#connection.identify(account.idToken, undefined)
    } catch (error) {
      // The room can be read without it.
      if (error instanceof TokenRefusedError) return this.list.update({ refused: error })
      // The next page with a line tries again, without another sign-in.
      if (error instanceof SpaceCallError && error.isPassing) keepRoomToken(room, account)
      throw error
    }
    this.list.update({ refused: undefined })
    await this.refresh()
  }

  /** The service answers by the keys of devices, and the app explains what the visitor can do. */
  async #explained<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw await this.#standing.explain(error)
    }
  }
}

/** Whom the owner had invited, and the address that the device has shown. */
function peopleOf({ invitedAs, standing }: Member): string[] {
  return [personOf(invitedAs), standing.ok ? standing.email : undefined].filter((person) => person !== undefined)
}

/** Of a long room, the first pages may come before the list that has a key for this device. */
async function ifListed(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof SpaceCallError)) throw error
  })
}

/**
 * Returns a function that makes a room that this device owns, and its first invitations. Called again, the function
 * makes the same room.
 */
export async function prepareListedRoom({
  name,
  invited,
}: {
  name: string | undefined
  invited: readonly string[]
}): Promise<() => Promise<RoomLink>> {
  const room = randomId()
  const own = await ownDevice(room)
  const { thumbprint } = own.device.signing
  const options = { ...(await optionsOf(own)), room, owner: thumbprint, ...(name !== undefined && { name }) }
  const connection = new ListedConnection(options)
  return async () => {
    await connection.make(undefined)
    const link = listedLink(room, thumbprint)
    const channel = await ListedChannel.open(link)
    try {
      for (const who of invited) await channel.invite(who)
    } catch (error) {
      // The room is made. Without its link, nobody would find it again. The owner sees in it who is invited.
      if (!(error instanceof SpaceCallError || error instanceof ListFullError)) throw error
    } finally {
      channel.close()
    }
    return link
  }
}
