import { isTakenBack } from '@atrium/room-client/answer-invitation'
import { type ListedRoomOptions, NotListedError } from '@atrium/room-client/listed-types'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { OwnDevice } from '../identity/room-device.ts'
import { ownerIn, type RoomLink } from '../room-link.ts'
import { Vault } from './vault.ts'

/**
 * In what this device keeps of the room: whether it was on the list, and the text of the invitation that it has answered since
 * then, which is `true` in an earlier release.
 */
const ENTERED = 'entered'
const ANSWERED = 'answered'

/** The invitations that this page has answered, by room: the browser may store nothing. */
const answered = new Map<string, string>()

/** This device has answered the invitation, and waits for the owner. */
export async function markAnswered(link: RoomLink, invitation: string, { localMk }: OwnDevice): Promise<void> {
  const { room } = link
  answered.set(room, invitation)
  const vault = await Vault.open({ room, mk: localMk }, ownerIn(link))
  await vault.write(ANSWERED, invitation)
}

/** How this device stands to the list of a room, by which the app explains why the service refuses it. */
export class DeviceStanding {
  readonly #options: ListedRoomOptions
  readonly #vault: Vault
  /** The answered invitation that the owner has taken back. */
  #takenBack: string | undefined

  constructor(options: ListedRoomOptions, vault: Vault) {
    this.#options = options
    this.#vault = vault
  }

  /** The device is on the list. */
  async enter(): Promise<void> {
    await this.#vault.write(ENTERED, true)
    answered.delete(this.#options.room)
    await this.#vault.remove(ANSWERED)
  }

  /** A refusal, with the reason that the app has for it. Any other error is returned as it is. */
  async explain(error: unknown): Promise<unknown> {
    const reason = error instanceof NotListedError || error instanceof SpaceCallError ? error.reason : ''
    if (!['not_on_list', 'revoked', 'bad_room_key'].includes(reason)) return clockExplained(error)
    return refusedFor(await this.#whyRefused(reason), error)
  }

  /** A device that was removed and is invited again stays removed for the service until the owner lets it in. */
  async #whyRefused(reason: string): Promise<string> {
    const invitation = answered.get(this.#options.room) ?? (await this.#vault.read<string | true>(ANSWERED))
    if (invitation !== undefined) return (await this.#isTakenBack(invitation)) ? 'device_taken_back' : 'device_answered'
    const hasEntered = (await this.#vault.read<boolean>(ENTERED)) === true
    return reason === 'revoked' || hasEntered ? 'device_removed' : 'device_waiting'
  }

  async #isTakenBack(invitation: string | true): Promise<boolean> {
    if (invitation === true || invitation === this.#takenBack) return invitation !== true
    // Without an answer of the service, the device still waits.
    const takenBack = await isTakenBack(invitation, this.#options).catch(() => false)
    if (takenBack) this.#takenBack = invitation
    return takenBack
  }
}

/** This app proves each request. A device that is on the list and whose proof is refused has a wrong clock. */
export function clockExplained(error: unknown): unknown {
  return error instanceof SpaceCallError && error.reason === 'unproven' ? refusedFor('bad_clock', error) : error
}

function refusedFor(reason: string, cause: unknown): SpaceCallError {
  return new SpaceCallError({ status: 403, error: 'not_authorized', reason, message: reason, cause })
}
