import type { DeviceKey, RoomIdentity } from '@atrium/room-client/identity'
import { accountStore } from './account.ts'
import { deviceKey } from './device-key.ts'

export type As = 'account' | 'guest'

/** Who one is when nothing else is asked for: the account one is signed in with. */
export function currentAs(): As {
  return accountStore.value.account ? 'account' : 'guest'
}

/** The key that signs in this room: the account's, or for a guest one that only this room knows. */
export function keyOf(room: string, as = currentAs()): Promise<DeviceKey> {
  return deviceKey(as === 'account' ? 'account' : `room:${room}`)
}

/** Who asks, and the key to prove it with. */
export async function identityIn(room: string, as = currentAs()): Promise<RoomIdentity> {
  const { account } = accountStore.value
  const { spk, sign } = await keyOf(room, as)
  return { ...(as === 'account' && account && { idToken: account.idToken }), spk, sign }
}
