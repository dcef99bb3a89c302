import { keepTrying } from '@atrium/traffic/keep-trying'
import { UnknownMasterKeyError } from '#crypto/vault/vault.ts'
import type { Context } from '#features/context.ts'
import type { HeldRoom } from '../agent-room.ts'
import { openHostedDevice } from '../hosted-device.ts'
import { openDeviceKeys, openRoomKey, type Session } from '../session.ts'
import type { Run } from './run-model-session.ts'

/**
 * How long a session waits if this process does not have the master key. While the master key is being changed, a
 * process that has the new one replaces this process and continues the session.
 */
const keyTimeoutMs = 30_000

/** The key of the session's room cannot be opened, now or later. The cause is for the log. */
export class RoomKeyError extends Error {
  override readonly name = 'RoomKeyError'
}

/** Opens the room with the keys of the session. Calls no service. Throws RoomKeyError where a further attempt meets the same. */
export async function openHeldRoom(ctx: Context, { session, signal }: Run): Promise<HeldRoom> {
  const untilMs = performance.now() + keyTimeoutMs
  const isPassing = (error: unknown) => error instanceof UnknownMasterKeyError && performance.now() < untilMs
  try {
    return await keepTrying(async () => openRoomOf(ctx, session), { signal, isPassing })
  } catch (cause) {
    signal.throwIfAborted()
    throw new RoomKeyError(`the key of the room of session ${session.id} cannot be opened`, { cause })
  }
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
