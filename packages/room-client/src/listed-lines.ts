import {
  type ClientKeys,
  deriveClientKeys,
  derivePolicyKey,
  lineHeader,
  sealClientLine,
  type Seen,
} from '@atrium/sealing/client-sealed'
import { sealPolicyLine } from '@atrium/sealing/policy-line'
import { signJws } from './device-jws.ts'
import { type DevicePolicy, type Invite, MAX_DEVICES, type PolicyContent, signPolicy } from './device-policy.ts'
import type { HostedAgent } from './hosted-agents.ts'
import { sha256Base64url } from './identity.ts'
import { ListFullError } from './listed-types.ts'
import { LINE_TYPE } from './signed-line.ts'
import type { SealedIssuer } from './member-standing.ts'
import { type RoomDevice, signCard } from './room-device.ts'

/** The service refuses a longer line. */
const MAX_LINE_BYTES = 65_536

/** Signs a record with the device key, for its place only, and seals it. */
export async function sealRecord(
  keys: ClientKeys,
  { seen, record, device }: { seen: Seen | undefined; record: object; device: RoomDevice },
): Promise<string> {
  const { sign, thumbprint: kid } = device.signing
  const content = await signJws({ typ: LINE_TYPE, kid, line: await sha256Base64url(lineHeader(keys, seen)) }, record, sign)
  return sealClientLine(keys, { seen, content })
}

/** What the owner decides of a new list. */
export type NewList = Pick<DevicePolicy, 'room' | 'generation' | 'seen' | 'prev' | 'devices' | 'revoked'> & {
  readonly mk: string
  readonly before?: string | undefined
  readonly invites: readonly Invite[]
  readonly issuers?: readonly SealedIssuer[]
  readonly hosted?: readonly HostedAgent[]
  readonly name?: string | undefined
}

interface SealedList {
  readonly line: string
  readonly keys: ClientKeys
}

/** Signs a list with the key of the owner, and seals it to its devices. `keyOf`: the encryption key of a device. */
export async function sealList(
  { room, generation, seen, prev, devices, revoked, mk, before, invites, issuers = [], hosted = [], name }: NewList,
  owner: RoomDevice,
  keyOf: (device: string) => RoomDevice['encryption'],
): Promise<SealedList> {
  if (devices.length > MAX_DEVICES) throw new ListFullError()
  const keys = await deriveClientKeys({ room, mk }, generation)
  const sealed: PolicyContent = {
    mk,
    ...(before !== undefined && { before }),
    owner: await signCard(owner, room, name),
    invites,
    ...(issuers.length > 0 && { issuers }),
  }
  const content = JSON.stringify(sealed)
  const signed: DevicePolicy = {
    room,
    generation,
    ...(seen && { seen }),
    ...(prev !== undefined && { prev }),
    access: keys.access,
    owner: owner.signing.thumbprint,
    devices,
    revoked,
    ...(hosted.length > 0 && { hosted }),
    content: await sha256Base64url(content),
  }
  const policy = await signPolicy(signed, owner)
  const recipients = devices.map((kid) => ({ kid, key: keyOf(kid) }))
  const line = await sealPolicyLine({
    policy,
    content,
    policyKey: await derivePolicyKey({ room, mk }),
    devices: recipients,
  })
  if (line.length > MAX_LINE_BYTES) throw new ListFullError()
  return { line, keys }
}
