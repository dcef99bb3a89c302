import { type Invitation, isListedEntry, type Member, type TokenRefusedError } from '@atrium/room-client/listed-types'
import type { Entry } from '@atrium/room-client/space-ops'
import { Store } from '../store.ts'

/** An open invitation. `text`: what to send, if it was made on this device. */
export interface OwnInvitation extends Invitation {
  readonly text?: string | undefined
}

/** Who is on the list of a client-sealed room. Empty in other rooms. */
export interface RoomList {
  readonly members: readonly Member[]
  readonly invitations: readonly OwnInvitation[]
  /** Second devices that members have named, and that the owner has not let in. */
  readonly vouched: readonly Member[]
  /** The names of devices. */
  readonly owner: string
  readonly own: string
  /** Why the last sign-in of this device in the room was not sealed. */
  readonly refused?: TokenRefusedError | undefined
}

export const emptyList = () => new Store<RoomList>({ members: [], invitations: [], vouched: [], owner: '', own: '' })

/** Messages of a listed room come with what is known of their author. */
export function memberOf(entry: Entry): Member | undefined {
  return isListedEntry(entry) ? entry.member : undefined
}
