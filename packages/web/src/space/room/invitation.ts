import { answerInvitation, parseInvitation } from '@atrium/room-client/answer-invitation'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import { importPairs } from '@atrium/room-client/room-device'
import { ownDevice } from '../identity/room-device.ts'
import { dropRoomToken, findRoomToken } from '../identity/room-token.ts'
import { listedLink, type RoomLink } from '../room-link.ts'
import { ListedChannel, optionsOf } from './listed-channel.ts'

/** Whom the owner had invited. Rejects if the invitation is not open any more; undefined: it was answered. */
export async function readInvitation(invitation: string): Promise<string | undefined> {
  const { room, owner, keys } = partsOf(invitation)
  const device = await importPairs(keys)
  const options = await optionsOf(await ownDevice(room))
  const open = await new ListedConnection({ ...options, room, owner, device }).invitations(undefined)
  const own = open.find(({ key }) => key === device.signing.thumbprint)
  if (!own) throw new Error('the invitation was taken back')
  return own.answeredBy ? undefined : own.invitedAs
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
