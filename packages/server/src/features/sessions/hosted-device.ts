import type { RoomDevice } from '@atrium/room-client/room-device'

/** The device of a hosted agent for one stay in a client-sealed room, as a session keeps it: sealed, and erased at the end. */
export interface HostedDevice {
  /** The text of its private keys, as in an invitation. */
  keys: string
  /** The device of the room's owner; null before the launch, which finds it in the owner's consent. */
  owner: string | null
}

const maxNameLength = 80

/** Makes the keys of an agent's device, and the card with which the room's owner lets it in. */
export async function makeHostedDevice(
  room: string,
  { name }: { name: string },
): Promise<{ device: HostedDevice; card: string }> {
  const { exportPairs, generateDevicePairs, roomDeviceOf, signCard } = await loadRoomDevice()
  const pairs = await generateDevicePairs(true)
  const [own, keys] = await Promise.all([roomDeviceOf(pairs), exportPairs(pairs)])
  // Not split within a character.
  const shown = name.length > maxNameLength ? name.slice(0, maxNameLength - 1).replace(/[\uD800-\uDBFF]$/, '') : name
  return { device: { keys, owner: null }, card: await signCard(own, room, shown) }
}

export async function openHostedDevice({ keys }: HostedDevice): Promise<RoomDevice> {
  const { importPairs } = await loadRoomDevice()
  return importPairs(keys)
}

/** Loaded with the first such device: most installations have none. */
function loadRoomDevice() {
  return import('@atrium/room-client/room-device')
}
