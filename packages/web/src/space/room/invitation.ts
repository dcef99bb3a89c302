import { answerInvitation, parseInvitation } from '@atrium/room-client/answer-invitation'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import { importPairs } from '@atrium/room-client/room-device'
import type { Invitation } from '@atrium/room-client/listed-types'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { type OwnDevice, ownDevice } from '../identity/room-device.ts'
import { dropRoomToken, findRoomToken } from '../identity/room-token.ts'
import { listedLink, type RoomLink } from '../room-link.ts'
import { ListedChannel, optionsOf } from './listed-channel.ts'

/**
 * Whom the owner has invited; or the link of the room, if this device has answered: who comes back has no other link. Rejects
 * if the invitation is not open any more.
 */
export async function readInvitation(invitation: string): Promise<{ invitedAs: string } | { link: RoomLink }> {
  const { room, owner } = partsOf(invitation)
  const own = await ownDevice(room)
  const link = listedLink(room, owner)
  try {
    const { invitedAs, answeredBy } = await openInvitation(invitation, own)
    if (!answeredBy) return { invitedAs }
    if (answeredBy.key !== own.device.signing.thumbprint) throw new Error('somebody else has answered')
    // The page was closed after the answer, and before it was kept.
    await ListedChannel.keepAnswer(room, own)
    return { link }
  } catch (error) {
    // The room says whether this device is still on the list.
    if (isPassing(error) || !(await ListedChannel.wasHere(room, own))) throw error
    return { link }
  }
}

/** Whether another attempt may succeed: the service did not answer. */
export function isPassing(error: unknown): boolean {
  return error instanceof SpaceCallError && error.isPassing
}

async function openInvitation(invitation: string, own: OwnDevice): Promise<Invitation> {
  const { room, owner, keys } = partsOf(invitation)
  const device = await importPairs(keys)
  const open = await new ListedConnection({ ...(await optionsOf(own)), room, owner, device }).invitations(undefined)
  const found = open.find(({ key }) => key === device.signing.thumbprint)
  if (!found) throw new Error('the invitation was taken back')
  return found
}

/** Answers with the card of this device and, after a sign-in for this room, its ID token. */
export async function answer(invitation: string, name: string | undefined): Promise<RoomLink> {
  const { room, owner } = partsOf(invitation)
  const own = await ownDevice(room)
  const options = await optionsOf(own)
  const idToken = findRoomToken(room)?.idToken
  await answerInvitation(invitation, { ...options, ...(name !== undefined && { name }), idToken })
  dropRoomToken(room)
  await ListedChannel.keepAnswer(room, own)
  return listedLink(room, owner)
}

function partsOf(invitation: string) {
  const parts = parseInvitation(invitation)
  if (!parts) throw new TypeError('not an invitation')
  return parts
}
