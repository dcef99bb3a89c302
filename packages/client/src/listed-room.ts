import { followPages, pollUntilAnswered } from '@atrium/room-client/follow-room'
import type { Turn } from '@atrium/room-client/turn'
import { answerInvitation as answer } from '@atrium/room-client/answer-invitation'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import {
  type Invitation,
  isListedEntry,
  type ListedEntry,
  type ListedRoomOptions,
  type Member,
  NotListedError,
} from '@atrium/room-client/listed-types'
import { randomId } from '@atrium/room-client/new-room-secret'
import { signCard } from '@atrium/room-client/room-device'
import { admitVouched, vouchFor } from '@atrium/room-client/second-devices'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import type { FollowOptions } from './follow-room.ts'
import { wait as delay } from './retry.ts'
import { asAtriumError } from './room-call.ts'

export { TamperedRoomError, type TamperProblem } from '@atrium/room-client/tampered-room-error'
export type { IdentityProvider, Standing } from '@atrium/room-client/member-standing'
export { LineTooLongError } from '@atrium/room-client/seal-line'
export { type DevicePairs, generateDevicePairs, type RoomDevice, roomDeviceOf } from '@atrium/room-client/room-device'
export {
  type Invitation,
  InvitationUsedError,
  type ListedEntry,
  type ListedRoomOptions,
  ListFullError,
  type Member,
  NotListedError,
  TokenRefusedError,
} from '@atrium/room-client/listed-types'

interface Options {
  signal?: AbortSignal | undefined
}

/**
 * A room whose key never reaches the service, with a list of devices that its owner signs. Each message is signed by the
 * device that wrote it. Methods throw AtriumError; TamperedRoomError where the room is not what owner and devices have
 * signed; and NotListedError where this device is not on the list, or no longer.
 */
export interface ListedRoom {
  readonly room: string
  /** Creates the room, which this device then owns. */
  make: (options?: Options) => Promise<void>
  /** The new messages since the last call, from the beginning at first, each with what is known of its author. */
  read: (options?: Options) => Promise<ListedEntry[]>
  /** Yields every message as it arrives, from the beginning or after `after`. It keeps a position of its own. */
  follow: (options?: Pick<FollowOptions, 'after' | 'signal'>) => AsyncGenerator<ListedEntry, void, undefined>
  /**
   * Writes a message of 1 to 16,384 characters that take up to 34,700 bytes of UTF-8 as JSON, and returns its number.
   * Retries store it only once. Throws TypeError for another, and LineTooLongError, which is one, where a line cannot hold it.
   * `id`: 22 to 86 characters of base64url that nobody else can guess. A later call with the same one, also after a restart,
   * writes nothing and returns what was stored. Default: a random one.
   */
  say: (text: string, options?: Options & { replyTo?: string; id?: string }) => Promise<{ id: string; seq: number }>
  /**
   * Seals the ID token of this device into the room, once: its nonce is the thumbprint of the device's signing key. Readers
   * check it, and no server sees it. Throws TokenRefusedError for one that readers would reject.
   */
  identify: (idToken: string, options?: Options) => Promise<Member>
  /** The devices on the list, without open invitations. Reads the room first. */
  members: (options?: Options) => Promise<Member[]>
  /** The owner invites somebody, such as an e-mail address. Returns the invitation, which is as secret as a key. */
  invite: (who: string, options?: Options) => Promise<string>
  /** The name of this device: the thumbprint of its signing key. */
  readonly key: string
  /**
   * The card of this device, with which the device `first` of the same member can name it with `vouch`, and no other can.
   * `first` is the `key` of that device. The card is no secret.
   */
  card: (first: string) => Promise<string>
  /**
   * Names a second device of this member by its card. The owner then lets it in with `admitVouched`. Throws TypeError if it is
   * no card for this room and for this device.
   */
  vouch: (card: string, options?: Options) => Promise<void>
  /** The second devices that members have named, and that the owner has neither let in nor removed: the newest five of each. Reads the room first. */
  vouched: (options?: Options) => Promise<Member[]>
  /** The owner lets in second devices, by their keys. Who is expelled leaves with all devices that it has named. */
  admitVouched: (keys: readonly string[], options?: Options) => Promise<Member[]>
  /** The open invitations, with the devices that have answered them. */
  invitations: (options?: Options) => Promise<Invitation[]>
  /**
   * The owner admits the devices that have answered an invitation, and returns them. If the owner has an
   * `identityProvider`, a device that was invited by an e-mail address is admitted only with an ID token of that address:
   * `invitations` says why one was not, and `expel` takes the invitation back. `invitedAs`: only who was invited as this.
   */
  admit: (options?: Options & { invitedAs?: string }) => Promise<Member[]>
  /**
   * The owner lets a hosted agent in, by the card that a prepared launch has (`launchHostedAgent` does it). **The operator of
   * the platform reads along** from then on, also what was said before, and every reader is told, until `expel` removes the
   * device. Returns its key. A repeat changes nothing. Throws TypeError for a card that is none for this room.
   */
  host: (consent: { agent: string; card: string }, options?: Options) => Promise<string>
  /**
   * The owner removes devices by their keys, with the devices that these have named and the open invitations for the
   * same people. The room key changes, so that they cannot read on.
   */
  expel: (keys: readonly string[], options?: Options) => Promise<void>
}

/**
 * Answers an invitation with the card of this device and, where the owner asks for one, its ID token. Returns the room.
 * The device can read and write once the owner has called `admit`. Throws TypeError for a text that is no invitation and on
 * the device of the owner, and InvitationUsedError if another device has answered it before.
 */
export async function answerInvitation(
  invitation: string,
  options: Omit<ListedRoomOptions, 'room' | 'owner'> & { idToken?: string },
): Promise<ListedRoom> {
  return openListedRoom(await converted(answer(invitation, options)))
}

/**
 * Makes a client of a room with a list of devices (docs/space/client-sealed.md), without a request.
 *
 * @example
 * const device = await roomDeviceOf(await generateDevicePairs())
 * const room = openListedRoom({ spaceUrl, room: newRoomSecret().room, device, name: 'Ada' })
 * await room.make()
 * const invitation = await room.invite('grace@example.org') // send it to her; her client calls answerInvitation
 * await room.admit() // when she has answered
 */
export function openListedRoom(options: ListedRoomOptions): ListedRoom {
  const connection = new ListedConnection(options)
  const { room } = options
  const own = options.device.signing.thumbprint
  let last: Promise<unknown> = Promise.resolve()
  /** One call after the other, because each continues where the one before has read to. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work)
    last = next.catch(() => undefined)
    return converted(next)
  }
  return {
    room,
    make: ({ signal } = {}) => inTurn(() => connection.make(signal)),
    read: ({ signal } = {}) => inTurn(() => connection.read(signal)),
    follow: (how = {}) => follow(options, how),
    members: ({ signal } = {}) => inTurn(() => connection.members(signal)),
    identify: (idToken, { signal } = {}) => inTurn(() => connection.identify(idToken, signal)),
    say: (text, { replyTo, id = randomId(), signal } = {}) =>
      inTurn(async () => {
        const at = new Date().toISOString()
        const turn: Turn = { t: 'turn', id, at, text, ...(replyTo !== undefined && { reply_to: replyTo }) }
        return { id, seq: await connection.append(turn, signal, id) }
      }),
    invite: (who, { signal } = {}) => inTurn(() => connection.invite(who, signal)),
    key: own,
    card: (first) => signCard(options.device, room, options.name, first),
    vouch: (card, { signal } = {}) => inTurn(() => vouchFor(connection, { room, card, own }, signal)),
    vouched: ({ signal } = {}) =>
      inTurn(async () => {
        await connection.members(signal)
        return (await connection.list()).vouched
      }),
    admitVouched: (keys, { signal } = {}) => inTurn(() => admitVouched(connection, keys, signal)),
    invitations: ({ signal } = {}) => inTurn(() => connection.invitations(signal)),
    admit: ({ invitedAs, signal } = {}) =>
      inTurn(() => connection.admit(signal, (one) => (invitedAs ?? one.invitedAs) === one.invitedAs)),
    host: (consent, { signal } = {}) => inTurn(() => connection.host(consent, signal)),
    expel: (keys, { signal } = {}) => inTurn(() => connection.expel(keys, signal)),
  }
}

/** A connection of its own: the list tells it each new key, also in the middle of a held read. */
async function* follow(
  options: ListedRoomOptions,
  { after = -1, signal }: Pick<FollowOptions, 'after' | 'signal'>,
): AsyncGenerator<ListedEntry, void, undefined> {
  const connection = new ListedConnection(options)
  const wait = options.wait ?? delay
  let first = after === 'now' ? Number.POSITIVE_INFINITY : after + 1
  let hasRead = false
  const fresh: ListedEntry[] = []
  const poll = async (how: { waitMs: number; limit: number }) => {
    const { count, etag, isEmpty, entries } = await connection.readPage({ waitMs: how.waitMs, limit: how.limit }, signal)
    // 'now' begins where the first page without lines ends the history.
    if (first === Number.POSITIVE_INFINITY && isEmpty) first = count
    hasRead = true
    for (const entry of entries) fresh.push(entry)
    return { count, etag, entries: [], policy: 'open' as const }
  }
  const pages = followPages(pollUntilAnswered({ poll, wait }, signal), {
    since: { sinceCount: 0, sinceEtag: '' },
    mayHold: () => first !== Number.POSITIVE_INFINITY && hasRead,
    pause: () => wait(1_000, signal).catch(() => undefined),
    signal,
  })
  try {
    for (let page = await converted(pages.next()); !page.done; page = await converted(pages.next())) {
      for (const entry of fresh.splice(0)) {
        if (signal?.aborted) return
        if (entry.seq >= first) yield entry
      }
    }
  } catch (error) {
    const entries = error instanceof TamperedRoomError ? error.entries.filter(isListedEntry) : []
    for (const entry of entries) if (entry.seq >= first && !signal?.aborted) yield entry
    if (!signal?.aborted) throw error
  }
}

async function converted<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const reason = error instanceof SpaceCallError ? error.reason : ''
    if (['not_on_list', 'revoked', 'bad_room_key'].includes(reason)) throw new NotListedError(reason)
    throw asAtriumError(error)
  }
}
