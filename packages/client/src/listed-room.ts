import { type ClientKeys, deriveClientKeys, signRequest } from '@atrium/sealing/client-sealed'
import { placeLine } from '@atrium/sealing/signed-request'
import { type CallOptions, callSpace } from '@atrium/room-client/call-space'
import { type Invite, MAX_DEVICES, MAX_REVOKED } from '@atrium/room-client/device-policy'
import type { Turn } from '@atrium/room-client/line-reader'
import { type NewList, sealList, sealRecord, type SealedList } from '@atrium/room-client/listed-lines'
import { ListedReader } from '@atrium/room-client/listed-reader'
import { newRoomSecret, randomId } from '@atrium/room-client/new-room-secret'
import {
  exportPairs,
  generateDevicePairs,
  importPairs,
  type RoomDevice,
  roomDeviceOf,
  signCard,
} from '@atrium/room-client/room-device'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { wait as delay, type Wait } from './retry.ts'
import { asAtriumError, type Entry } from './room-call.ts'

export { TamperedRoomError, type TamperProblem } from '@atrium/room-client/line-reader'
export { type DevicePairs, generateDevicePairs, type RoomDevice, roomDeviceOf } from '@atrium/room-client/room-device'

export interface ListedRoomOptions {
  /** The Space endpoint, such as https://api.example/v1/space. */
  spaceUrl: string
  /** The origin of the Space service, which signatures name. Default: that of `spaceUrl`. */
  audience?: string
  /** The name of the room. */
  room: string
  /** The keys of this device, from `roomDeviceOf`. */
  device: RoomDevice
  /** The thumbprint of the owner's device, as the invitation has it. Default: this device. */
  owner?: string
  /** A name that the card of this device has. Nobody verifies it. */
  name?: string
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch
  /** The number of retries when the service cannot be reached or is overloaded. Default 3. */
  retries?: number
  /** The time limit of one attempt in milliseconds, in addition to the time of a held read. Default 10,000. */
  timeoutMs?: number
  /** Waits between attempts; for tests. */
  wait?: Wait
}

export interface Member {
  /** Thumbprint of the device key. */
  key: string
  /** Claimed by the device. */
  name?: string | undefined
  /** Who the owner had invited when this device answered; undefined: it is the owner. */
  invitedAs?: string | undefined
}

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
  /** The new messages since the last call, from the beginning at first. */
  read: (options?: Options) => Promise<Entry[]>
  /** Writes a message of up to 16 KiB, and returns its number. Retries store it only once. */
  say: (text: string, options?: Options & { replyTo?: string }) => Promise<{ id: string; seq: number }>
  /** The devices on the list, without open invitations. Reads the room first. */
  members: (options?: Options) => Promise<Member[]>
  /** The owner invites somebody, such as an e-mail address. Returns the invitation, which is as secret as a key. */
  invite: (who: string, options?: Options) => Promise<string>
  /** The owner admits the devices that have answered an invitation, and returns them. */
  admit: (options?: Options) => Promise<Member[]>
  /** The owner removes devices by their keys. The room key changes, so they cannot read on. */
  expel: (keys: readonly string[], options?: Options) => Promise<void>
}

/** This device is not on the list of the room. */
export class NotListedError extends Error {
  override readonly name = 'NotListedError'
  /** revoked, not_on_list; bad_room_key: neither on the list nor with the key in force. */
  readonly reason: string

  constructor(reason: string) {
    super(
      reason === 'revoked'
        ? 'The owner has removed this device from the room. Ask the owner for a new invitation to read on.'
        : 'This device is not on the list of the room, or no longer, and has no key of it. Wait until the owner admits it, or ask for an invitation.',
    )
    this.reason = reason
  }
}

const invitationForm = /^([A-Za-z0-9_-]{1,128})~([A-Za-z0-9_-]{43})~([A-Za-z0-9_-]{258})$/

/**
 * Answers an invitation with the card of this device, and returns the room. The device can read and write once the owner
 * has called `admit`. Throws TypeError for a text that is no invitation.
 */
export async function answerInvitation(
  invitation: string,
  options: Omit<ListedRoomOptions, 'room' | 'owner'>,
): Promise<ListedRoom> {
  const [, room = '', owner = '', keys = ''] = invitationForm.exec(invitation) ?? []
  const inviting = new Connection({ ...options, room, owner, device: await importPairs(keys) })
  const card = await signCard(options.device, room, options.name)
  await converted(inviting.append({ t: 'answer', card }, undefined))
  return openListedRoom({ ...options, room, owner })
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
  const connection = new Connection(options)
  const { room, name } = options
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
    members: ({ signal } = {}) => inTurn(() => connection.members(signal)),
    say: (text, { replyTo, signal } = {}) =>
      inTurn(async () => {
        const [id, at] = [randomId(), new Date().toISOString()]
        const turn: Turn = { t: 'turn', id, at, text, ...(replyTo !== undefined && { reply_to: replyTo }) }
        return { id, seq: await connection.append(turn, signal) }
      }),
    invite: (who, { signal } = {}) =>
      inTurn(async () => {
        const pairs = await generateDevicePairs(true)
        const { signing, encryption } = await roomDeviceOf(pairs)
        const invite: Invite = { key: signing.thumbprint, spk: signing.spk, epk: encryption, for: who }
        await connection.change(
          (list) => ({ ...list, name, devices: [...list.devices, invite.key], invites: [...list.invites, invite] }),
          signal,
        )
        return `${room}~${connection.owner}~${await exportPairs(pairs)}`
      }),
    admit: ({ signal } = {}) => inTurn(() => connection.admit(signal)),
    expel: (keys, { signal } = {}) => inTurn(() => connection.expel(keys, signal)),
  }
}

const maxTries = 5

/** The requests of one device to one room. */
class Connection {
  readonly owner: string
  readonly #options: ListedRoomOptions
  readonly #reader: ListedReader
  readonly #unread: Entry[] = []

  constructor(options: ListedRoomOptions) {
    const { room, device, owner = device.signing.thumbprint } = options
    this.#options = options
    this.owner = owner
    this.#reader = new ListedReader({ room, owner, device })
  }

  async make(signal: AbortSignal | undefined): Promise<void> {
    const { room, device, name } = this.#options
    const { mk } = newRoomSecret()
    const list = { room, generation: 0, devices: [this.owner], revoked: [], mk, invites: [], name }
    const { line, keys } = await sealList(list, device, () => device.encryption)
    try {
      await callSpace(this.#endpoint, { op: 'make', room, access: keys.access, line }, this.#how(keys, signal))
    } catch (error) {
      // The answer of an attempt before may have been lost. Then line 0 is this one.
      if (!(error instanceof SpaceCallError) || error.error !== 'room_exists') throw error
      const request = { op: 'read' as const, room, limit: 1 }
      const { lines } = await callSpace(this.#endpoint, request, this.#how(keys, signal)).catch(() => ({ lines: [] }))
      if (lines[0] !== placeLine(line, { seq: 0 })) throw error
    }
  }

  /** What was read and not yet returned. */
  async read(signal: AbortSignal | undefined): Promise<Entry[]> {
    await this.#readNew(signal)
    return this.#unread.splice(0)
  }

  async members(signal: AbortSignal | undefined): Promise<Member[]> {
    await this.#readNew(signal)
    const { policy, content } = this.#force()
    const invites = new Set(content.invites.map(({ key }) => key))
    return policy.devices.filter((key) => !invites.has(key)).map((key) => this.#member(key))
  }

  #member(key: string): Member {
    const { name, invitedAs } = this.#reader.card(key) ?? {}
    return { key, name, invitedAs }
  }

  /** Signs, seals and appends a record. If the key changes meanwhile, it is sealed again with the new one. */
  async append(record: object, signal: AbortSignal | undefined): Promise<number> {
    const { room, device } = this.#options
    const dedupe = randomId()
    for (let tried = 1; ; tried++) {
      await this.#readNew(signal)
      const { keys } = this.#force()
      const line = await sealRecord(keys, { seen: this.#reader.seen, record, device })
      try {
        return (await callSpace(this.#endpoint, { op: 'append', room, line, dedupe }, this.#how(keys, signal))).seq
      } catch (error) {
        if (reasonOf(error) !== 'bad_room_key' || tried >= maxTries) throw error
      }
    }
  }

  async admit(signal: AbortSignal | undefined): Promise<Member[]> {
    await this.#readNew(signal)
    const answered = this.#reader.invites.flatMap(({ invite, answer }) => (answer ? [{ key: invite.key, card: answer.key }] : []))
    if (answered.length === 0) return []
    const used = new Set(answered.map(({ key }) => key))
    const cards = answered.map(({ card }) => card)
    await this.change(
      (list) => ({
        ...rekeyed(list),
        devices: [...new Set([...list.devices.filter((key) => !used.has(key)), ...cards])],
        invites: list.invites.filter(({ key }) => !used.has(key)),
        revoked: list.revoked.filter((key) => !cards.includes(key)),
      }),
      signal,
    )
    return cards.map((key) => this.#member(key))
  }

  /** The removed devices keep what they could read. Nothing after this line is sealed with a key that they have. */
  async expel(keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    if (keys.includes(this.owner)) throw new TypeError('the owner cannot be removed')
    await this.change(
      (list) => ({
        ...rekeyed(list),
        devices: list.devices.filter((key) => !keys.includes(key)),
        invites: list.invites.filter(({ key }) => !keys.includes(key)),
        // The list has a limit. A device that falls off its end is refused as not_on_list.
        revoked: [...list.revoked, ...list.devices.filter((key) => keys.includes(key))].slice(-MAX_REVOKED),
      }),
      signal,
    )
  }

  /** Writes a list that follows the newest one. */
  async change(next: (list: NewList) => NewList, signal: AbortSignal | undefined): Promise<void> {
    const { room, name } = this.#options
    for (let tried = 1; ; tried++) {
      await this.#readNew(signal)
      const { policy, hash, content, keys, mk } = this.#force()
      const { generation, devices, revoked } = policy
      const before = content.before === undefined ? {} : { before: content.before }
      const place = { room, seen: this.#reader.seen, prev: hash }
      const list = next({ ...place, ...before, generation, devices, revoked, mk, invites: content.invites, name })
      if (list.devices.length > MAX_DEVICES) throw new RangeError(`a room has up to ${MAX_DEVICES} devices and open invitations`)
      const sealed = await this.#seal(list)
      try {
        const request = { op: 'append' as const, room, line: sealed.line, dedupe: randomId() }
        await callSpace(this.#endpoint, request, this.#how(keys, signal))
        return await this.#readNew(signal)
      } catch (error) {
        // An answer may have been lost: then the list is in force, and refuses its own repeat.
        if (!['bad_room_key', 'list_changed'].includes(reasonOf(error))) throw error
        await this.#readNew(signal)
        if (this.#force().jws === sealed.policy) return
        if (tried >= maxTries) throw error
      }
    }
  }

  #seal(list: NewList): Promise<SealedList> {
    const { device } = this.#options
    return sealList(list, device, (key) => {
      const found = list.invites.find((invite) => invite.key === key)?.epk ?? this.#reader.card(key)?.epk
      if (!found) throw new Error('a device on the list has no card')
      return found
    })
  }

  async #readNew(signal: AbortSignal | undefined): Promise<void> {
    const { room } = this.#options
    for (;;) {
      // Before the first page, and after the key has changed, the list alone gives access to a device that is on it.
      const keys = this.#reader.newestKeys ?? (await deriveClientKeys(newRoomSecret()))
      const page = await callSpace(this.#endpoint, { op: 'read', room, ...this.#reader.position }, this.#how(keys, signal))
      this.#unread.push(...(await this.#reader.take(page)))
      if (page.lines.length === 0) return
    }
  }

  #force() {
    const force = this.#reader.force
    if (!force) throw new NotListedError('bad_room_key')
    return force
  }

  get #endpoint() {
    return { url: this.#options.spaceUrl, fetch: this.#options.fetch }
  }

  #how(keys: ClientKeys, signal: AbortSignal | undefined): CallOptions {
    const { spaceUrl, audience = new URL(spaceUrl).origin, device, timeoutMs, retries = 3, wait = delay } = this.#options
    return {
      identity: { spk: device.signing.spk, sign: device.signing.sign },
      sign: (request) => signRequest(keys, request, { audience }),
      timeoutMs,
      retries,
      wait,
      signal,
    }
  }
}

/** A device that leaves the list, also an invitation that was answered, must not read on. */
function rekeyed(list: NewList): NewList {
  return { ...list, generation: list.generation + 1, before: list.mk, mk: newRoomSecret().mk }
}

function reasonOf(error: unknown): string {
  return error instanceof SpaceCallError ? error.reason : ''
}

async function converted<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const reason = reasonOf(error)
    if (['not_on_list', 'revoked', 'bad_room_key'].includes(reason)) throw new NotListedError(reason)
    throw asAtriumError(error)
  }
}
