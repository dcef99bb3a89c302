import { type DevicePairs, generateDevicePairs, type RoomDevice, roomDeviceOf } from '@atrium/room-client/room-device'
import { encodeBase64url } from '@atrium/sealing/base64url'
import { storedKeys } from './device-key.ts'

/** This device in one room with a list. It has keys of its own there, so that the service cannot tell its rooms apart by them. */
export interface OwnDevice {
  readonly device: RoomDevice
  /** In place of a room key, for what this device stores of the room. No other device can compute it. */
  readonly localMk: string
  /** Whether the browser stores the keys. Otherwise they are lost with the page. */
  readonly isKept: boolean
}

const known = new Map<string, Promise<OwnDevice>>()

export function ownDevice(room: string): Promise<OwnDevice> {
  const device = known.get(room) ?? loadDevice(room)
  known.set(room, device)
  return device
}

async function loadDevice(room: string): Promise<OwnDevice> {
  const stored = await storedKeys<DevicePairs>(`listed:${room}`, () => generateDevicePairs()).catch(() => undefined)
  const pairs = stored ?? (await generateDevicePairs())
  const { publicKey, privateKey } = pairs.encryption
  const bits = await crypto.subtle.deriveBits({ name: 'ECDH', public: publicKey }, privateKey, 256)
  return { device: await roomDeviceOf(pairs), localMk: encodeBase64url(new Uint8Array(bits)), isKept: stored !== undefined }
}
