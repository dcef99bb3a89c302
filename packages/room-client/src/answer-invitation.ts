import { isOnList } from './is-on-list.ts'
import { ListedConnection } from './listed-connection.ts'
import { InvitationUsedError, type ListedRoomOptions } from './listed-types.ts'
import { importPairs, signCard } from './room-device.ts'

const invitationForm = /^([A-Za-z0-9_-]{1,128})~([A-Za-z0-9_-]{43})~([A-Za-z0-9_-]{258})$/

/** The parts of an invitation; undefined: the text is none. `keys` is the text of its two keys. */
export function parseInvitation(text: string): { room: string; owner: string; keys: string } | undefined {
  const [, room, owner, keys] = invitationForm.exec(text) ?? []
  return room !== undefined && owner !== undefined && keys !== undefined ? { room, owner, keys } : undefined
}

type AnsweringOptions = Omit<ListedRoomOptions, 'room' | 'owner'> & { idToken?: string | undefined }

/**
 * Answers an invitation with the card of this device and, where the owner asks for one, its ID token. Returns the options of
 * the room. Throws InvitationUsedError if another device was first, and TypeError on the device of the owner.
 */
export async function answerInvitation(
  invitation: string,
  { idToken, ...options }: AnsweringOptions,
  signal?: AbortSignal,
): Promise<ListedRoomOptions> {
  const { room, owner, keys } = parseInvitation(invitation) ?? { room: '', owner: '', keys: '' }
  const guest = await importPairs(keys)
  if (options.device.signing.thumbprint === owner) throw new TypeError('the owner is in the room already')
  const inviting = new ListedConnection({ ...options, room, owner, device: guest })
  const card = await signCard(options.device, room, options.name, guest.signing.thumbprint)
  const token = idToken === undefined ? {} : inviting.seal(idToken)
  await inviting.append({ t: 'answer', card, ...token }, signal)
  // The owner may have let in the device already: then the invitation reads nothing any more.
  const open = await inviting.invitations(signal).catch(() => [])
  const answeredBy = open.find(({ key }) => key === guest.signing.thumbprint)?.answeredBy
  if (answeredBy && answeredBy.key !== options.device.signing.thumbprint) throw new InvitationUsedError()
  return { ...options, room, owner }
}

/**
 * Whether the owner has taken back the invitation that this device has answered: neither of the two is on the list. The
 * second question comes after the first, because the device takes the place of the invitation in between.
 */
export async function isTakenBack(
  invitation: string,
  options: Omit<ListedRoomOptions, 'room' | 'owner'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const { room, keys } = parseInvitation(invitation) ?? { room: '', keys: '' }
  const guest = await importPairs(keys)
  if (await isOnList({ ...options, room, device: guest }, signal)) return false
  return !(await isOnList({ ...options, room }, signal))
}
