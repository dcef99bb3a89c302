import { type DeviceKey, deviceKeyOf, generateDevicePair } from '@atrium/room-client/identity'

export type { DeviceKey, DevicePublicKey } from '@atrium/room-client/identity'

/**
 * A fresh device key, by Web Crypto: its private half cannot be exported. In a page it lasts as long as the page; one that is to last
 * longer is a CryptoKeyPair in IndexedDB.
 */
export async function makeDeviceKey(): Promise<DeviceKey> {
  return deviceKeyOf(await generateDevicePair())
}
