import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { startTestSpace, type TestSpace } from '../../../space/src/testing/test-space.ts'
import {
  answerInvitation,
  generateDevicePairs,
  type ListedRoom,
  type ListedRoomOptions,
  NotListedError,
  openListedRoom,
  roomDeviceOf,
} from '../listed-room.ts'
import { newRoomSecret } from '../new-room-secret.ts'

const audience = 'https://rooms.example'

/** A Space service for the tests of one file, and rooms with a list in it. */
export function startListedRooms() {
  let space: TestSpace
  before(async () => {
    space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
  })
  after(() => space?.close())

  const more = () => ({ spaceUrl: `${space.origin}/space`, audience, wait: async () => undefined })

  /** `owner`: the name of the owner's device. */
  async function newRoom(options: Partial<ListedRoomOptions> = {}) {
    const device = await newDevice()
    const room = openListedRoom({ ...more(), room: newRoomSecret().room, device, name: 'Ada', ...options })
    await room.make()
    return { room, device, owner: device.signing.thumbprint }
  }

  async function join(owner: ListedRoom, who: string, options: Partial<ListedRoomOptions> = {}) {
    const device = await newDevice()
    const invitation = await owner.invite(who)
    const room = await answerInvitation(invitation, { ...more(), device, ...options })
    await owner.admit()
    return { room, device, key: device.signing.thumbprint, invitation }
  }

  return { getSpace: () => space, more, newRoom, join }
}

export const newDevice = async () => roomDeviceOf(await generateDevicePairs())

export const textsIn = async (room: ListedRoom) => (await room.read()).map(({ message }) => message.text)

/** Why the room refuses the device. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  assert.ok(error instanceof NotListedError, String(error))
  return error.reason
}
