import type { ListedRoomOptions } from '@atrium/room-client/listed-types'
import { loadConfig } from '../config.ts'
import type { OwnDevice } from '../identity/room-device.ts'
import { getServiceOrigin } from '../service.ts'

const TIMEOUT_MS = 20_000

/** How this device calls the service about a room with a list. */
export async function optionsOf({ device }: OwnDevice): Promise<Omit<ListedRoomOptions, 'room' | 'owner'>> {
  const { identity } = await loadConfig()
  const origin = getServiceOrigin()
  return {
    spaceUrl: `${origin}/space`,
    audience: origin,
    device,
    timeoutMs: TIMEOUT_MS,
    ...(identity && { identityProvider: { issuer: identity.issuer, clientId: identity.client_id } }),
  }
}
