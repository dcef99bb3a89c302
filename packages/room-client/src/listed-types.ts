import type { IdentityProvider, Standing } from './member-standing.ts'
import type { RoomDevice } from './room-device.ts'
import type { Wait } from './retry.ts'
import type { Entry } from './space-ops.ts'

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
  /** The identity provider whose ID tokens are believed. Without it, tokens are not checked. */
  identityProvider?: IdentityProvider
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch
  /** The number of retries when the service cannot be reached or is overloaded. Default 3. */
  retries?: number
  /** The time limit of one attempt in milliseconds, in addition to the time of a held read. Default 10,000. */
  timeoutMs?: number
  /** Waits between attempts; for tests. */
  wait?: Wait
  /** The time by which ID tokens are checked; for tests. */
  nowMs?: () => number
}

export interface Member {
  /** Thumbprint of the device key. */
  key: string
  /** Claimed by the device. */
  name?: string | undefined
  /** Who the owner had invited when this device answered; undefined: it is the owner, or the device of a hosted agent. */
  invitedAs?: string | undefined
  /** The id of the agent whose device this is, which the operator of the platform runs. The operator can read along. */
  hostedAgent?: string | undefined
  /** Of a second device: the device that has named it, before the owner let it in. `invitedAs` is that of the first one. */
  vouchedBy?: { key: string; name?: string | undefined }
  /** What its ID token proves. */
  standing: Standing
}

/** A message, and what is known of its author. */
export type ListedEntry = Entry & { member: Member }

/** Messages of a room with a list are. */
export function isListedEntry(entry: Entry): entry is ListedEntry {
  return 'member' in entry
}

export interface Invitation {
  /** Of the invitation. `expel` with it takes the invitation back. */
  key: string
  invitedAs: string
  /** The device that has answered; absent as long as none has. */
  answeredBy?: Member
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

/** Another device has answered the invitation before, so the owner will not let this one in. */
export class InvitationUsedError extends Error {
  override readonly name = 'InvitationUsedError'

  constructor() {
    super('Another device has answered this invitation before. Ask the owner for a new one.')
  }
}

/** The list would have more devices and open invitations than a line holds. Nothing was written. */
export class ListFullError extends RangeError {
  override readonly name = 'ListFullError'

  constructor() {
    super('The list is full: it has up to 100 devices and open invitations, and fewer if many of them are invitations.')
  }
}

/** The ID token is not for this device, or not valid. Nothing was written. */
export class TokenRefusedError extends Error {
  override readonly name = 'TokenRefusedError'
  /** As that of a member's `standing`. */
  readonly reason: string

  constructor(reason: string) {
    super(`The ID token is refused (${reason}). Ask the provider for one whose nonce is the thumbprint of this device's key.`)
    this.reason = reason
  }
}
