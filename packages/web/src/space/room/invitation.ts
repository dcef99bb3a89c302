import { answerInvitation, parseInvitation } from '@atrium/room-client/answer-invitation'
import { isOnList, isRefused } from '@atrium/room-client/is-on-list'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import { type Invitation, type ListedRoomOptions, NotListedError } from '@atrium/room-client/listed-types'
import { importPairs } from '@atrium/room-client/room-device'
import { type OwnDevice, ownDevice } from '../identity/room-device.ts'
import { dropRoomToken, findRoomToken } from '../identity/room-token.ts'
import { listedLink, type RoomLink } from '../room-link.ts'
import { clockExplained, markAnswered } from './device-standing.ts'
import { optionsOf } from './listed-options.ts'

/** own: this device has answered it, or is on the list already, as the owner's is. used: it is not open for this device. */
export type FoundInvitation =
  | { readonly state: 'open'; readonly invitedAs: string; readonly isKept: boolean }
  | { readonly state: 'own'; readonly link: RoomLink }
  | { readonly state: 'used' }

/** What an invitation is for this device. Rejects if the service does not answer, or the room was tampered with. */
export async function readInvitation(invitation: string): Promise<FoundInvitation> {
  try {
    return await findInvitation(invitation)
  } catch (error) {
    throw clockExplained(error)
  }
}

async function findInvitation(invitation: string): Promise<FoundInvitation> {
  const parts = parseInvitation(invitation)
  const device = parts && (await importPairs(parts.keys).catch(() => undefined))
  if (!parts || !device) return { state: 'used' }
  const { room, owner } = parts
  const own = await ownDevice(room)
  const options = { ...(await optionsOf(own)), room, owner }
  const link = listedLink(room, owner)
  if (own.device.signing.thumbprint === owner) return { state: 'own', link }
  const open = await openInvitations({ ...options, device })
  const found = open?.find(({ key }) => key === device.signing.thumbprint)
  // The owner has taken it off the list: maybe because this device took its place.
  if (!found) return (await isOnList(options)) ? { state: 'own', link } : { state: 'used' }
  const { invitedAs, answeredBy } = found
  if (!answeredBy) return { state: 'open', invitedAs, isKept: own.isKept }
  if (answeredBy.key !== own.device.signing.thumbprint) return { state: 'used' }
  await keepAnswer(link, invitation, own)
  return { state: 'own', link }
}

/** undefined: the invitation does not open the room. */
async function openInvitations(options: ListedRoomOptions): Promise<Invitation[] | undefined> {
  try {
    return await new ListedConnection(options).invitations(undefined)
  } catch (error) {
    if (isRefused(error) || error instanceof NotListedError) return undefined
    throw error
  }
}

/**
 * Answers with the card of this device and, after a sign-in for this room, its ID token. It may be repeated: also where an
 * attempt before was stored and its answer was lost, it resolves to the room. Throws InvitationUsedError if another device was
 * first.
 */
export async function answer(invitation: string, name: string | undefined): Promise<RoomLink> {
  const { room, owner } = parseInvitation(invitation) ?? { room: '', owner: '' }
  const own = await ownDevice(room)
  const options = await optionsOf(own)
  const idToken = findRoomToken(room)?.idToken
  try {
    await answerInvitation(invitation, { ...options, ...(name !== undefined && { name }), idToken })
  } catch (error) {
    const found = await readInvitation(invitation).catch(() => undefined)
    if (found?.state !== 'own') throw clockExplained(error)
  }
  const link = listedLink(room, owner)
  await keepAnswer(link, invitation, own)
  return link
}

/** The answer has the token, too. */
async function keepAnswer(link: RoomLink, invitation: string, own: OwnDevice): Promise<void> {
  dropRoomToken(link.room)
  await markAnswered(link, invitation, own)
}
