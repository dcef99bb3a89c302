import { decodeJsonPart } from '@atrium/identity/compact-jws'
import { callSpace, type CallOptions, type SpaceEndpoint } from '@atrium/room-client/call-space'
import { type DevicePolicy, readPolicy } from '@atrium/room-client/device-policy'
import { pastTheEnd } from '@atrium/room-client/follow-room'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import type { RoomDevice } from '@atrium/room-client/room-device'
import { deriveClientKeys, signRequest } from '@atrium/sealing/client-sealed'

/** How many lines each request goes further back. The owner writes the consent right before the launch. */
const stepsBack = [20, 200, 1_000, 5_000]

export interface Consent {
  /** The device of the room's owner. */
  owner: string
  /** How many lines the room had. */
  count: number
}

export interface Consenting {
  room: string
  agentId: string
  /** The device that is to read. */
  device: RoomDevice
}

/**
 * Looks whether the list in force names this device as that of the agent: the consent of the room's owner. undefined: it does
 * not. It reads what is signed in the clear, and no message. Throws SpaceCallError; 403 where the device is not on the list.
 */
export async function findConsent(
  endpoint: SpaceEndpoint,
  audience: string,
  { room, agentId, device }: Consenting,
): Promise<Consent | undefined> {
  // The service answers a device on the list whatever the access key, because it may have an old one.
  const keys = await deriveClientKeys(newRoomSecret())
  const { signing } = device
  const how: CallOptions = {
    identity: { spk: signing.spk, sign: signing.sign },
    sign: (request) => signRequest(keys, request, { audience }),
  }
  const { count } = await callSpace(endpoint, { op: 'read', room, ...pastTheEnd, limit: 1 }, how)
  let to = count
  for (const step of stepsBack) {
    const from = Math.max(0, to - step)
    const header = await findNewestList(from, to, async (sinceCount, limit) => {
      return (await callSpace(endpoint, { op: 'read', room, sinceCount, limit }, how)).lines
    })
    if (header) {
      const policy = await readPolicy(header)
      return isConsent(policy, room, agentId, signing.thumbprint) ? { owner: policy.owner, count } : undefined
    }
    to = from
  }
  return undefined
}

function isConsent(
  policy: DevicePolicy | 'signature' | undefined,
  room: string,
  agentId: string,
  key: string,
): policy is DevicePolicy {
  if (policy === undefined || policy === 'signature' || policy.room !== room) return false
  return policy.hosted?.some(({ agent, device }) => agent === agentId && device === key) ?? false
}

/** The list as its owner has signed it, of the last line from `from` to `to` that has one. A page may end early. */
async function findNewestList(
  from: number,
  to: number,
  read: (sinceCount: number, limit: number) => Promise<string[]>,
): Promise<string | undefined> {
  let found: string | undefined
  for (let at = from; at < to;) {
    const lines = await read(at, Math.min(500, to - at))
    if (lines.length === 0) break
    for (const line of lines) found = listIn(line) ?? found
    at += lines.length
  }
  return found
}

/** As the service finds it: what has a `policy` in its header is the list in force, whatever its form. */
function listIn(line: string): string | undefined {
  const policy = decodeJsonPart(/^\{"protected":"([\w-]+)"/.exec(line)?.[1] ?? '')?.['policy']
  return policy === undefined ? undefined : String(policy)
}
