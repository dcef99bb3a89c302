import type { Context } from '#features/context.ts'
import type { HeldRoom } from '../agent-room.ts'
import { openHostedDevice } from '../hosted-device.ts'
import { openDeviceKeys, openRoomKey, type Session } from '../session.ts'
import { openWithKeys } from './open-with-keys.ts'
import type { Run } from './run-model-session.ts'

/** Opens the room with the keys of the session. Calls no service. Throws RoomKeyError where a further attempt meets the same. */
export function openHeldRoom(ctx: Context, run: Run): Promise<HeldRoom> {
  return openWithKeys(run, () => openRoomOf(ctx, run.session))
}

async function openRoomOf({ agentRooms, vault }: Context, session: Session): Promise<HeldRoom> {
  const agent = { id: session.agentId, name: session.agent.name }
  const rateKey = `session:${session.id}`
  if (!session.isClientSealed) return agentRooms.open(agent, { room: session.room, mk: openRoomKey(vault, session) }, rateKey)
  const hosted = openDeviceKeys(vault, session)
  if (hosted.owner === null) throw new Error(`session ${session.id} has no owner of its room`)
  const device = await openHostedDevice(hosted)
  return agentRooms.openSealed(agent, { room: session.room, owner: hosted.owner, device }, rateKey)
}
