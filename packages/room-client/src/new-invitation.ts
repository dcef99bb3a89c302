import type { Invite } from './device-policy.ts'
import { exportPairs, generateDevicePairs, roomDeviceOf } from './room-device.ts'

/** The keys of an invitation for somebody, and the invitation as text. */
export async function newInvitation(room: string, owner: string, who: string): Promise<{ invite: Invite; text: string }> {
  const pairs = await generateDevicePairs(true)
  const { signing, encryption } = await roomDeviceOf(pairs)
  const invite = { key: signing.thumbprint, spk: signing.spk, epk: encryption, for: who }
  return { invite, text: `${room}~${owner}~${await exportPairs(pairs)}` }
}
