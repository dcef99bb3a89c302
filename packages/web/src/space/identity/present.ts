import type { DeviceKey, RoomIdentity } from '@atrium/room-client/identity'
import { accountStore } from './account.ts'
import { deviceKey } from './device-key.ts'

export type As = 'account' | 'guest'

/** The default identity: the signed-in account. */
function currentAs(): As {
  return accountStore.value.account ? 'account' : 'guest'
}

/** The signing key in this room: the account's key, or for a guest a key per room. */
export function keyOf(room: string, as = currentAs()): Promise<DeviceKey> {
  return deviceKey(as === 'account' ? 'account' : `room:${room}`)
}

/** The identity of the caller and its device key. */
export async function identityIn(room: string, as = currentAs()): Promise<RoomIdentity> {
  const { account } = accountStore.value
  const { spk, sign } = await keyOf(room, as)
  return { ...(as === 'account' && account && { idToken: account.idToken }), spk, sign }
}
