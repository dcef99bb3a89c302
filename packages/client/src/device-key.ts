import { deviceKeyOf, generateDevicePair } from '@atrium/room-client/device-pair'
import type { DeviceKey } from '@atrium/room-client/identity'

export type { DeviceKey, DevicePublicKey } from '@atrium/room-client/identity'

/**
 * Makes a new device key with Web Crypto (ECDSA with P-256). Its private half is not extractable. The key lasts as long
 * as the page; to keep one longer, store a CryptoKeyPair in IndexedDB.
 *
 * @example
 * const room = openRoom({ spaceUrl, ...secret, identity: await makeDeviceKey() })
 */
export async function makeDeviceKey(): Promise<DeviceKey> {
  return deviceKeyOf(await generateDevicePair())
}
