import { type ClientKeys, deriveClientKeys, derivePolicyKey, lineHeader, type Seen } from '@atrium/sealing/client-sealed'
import { sealPolicyLine } from '@atrium/sealing/policy-line'
import { signJws } from './device-jws.ts'
import {
  type DevicePolicy,
  type Invite,
  MAX_DEVICES,
  type OpenedContent,
  type PolicyContent,
  signPolicy,
} from './device-policy.ts'
import type { HostedAgent } from './hosted-agents.ts'
import { sha256Base64url } from './identity.ts'
import { ListFullError } from './listed-types.ts'
import { LINE_TYPE } from './signed-line.ts'
import type { SealedIssuer } from './member-standing.ts'
import { type RoomDevice, signCard } from './room-device.ts'
import { MAX_LINE_BYTES, sealLine } from './seal-line.ts'

/**
 * The first change of the key adds `before` to what is sealed, and the padding then grows by up to 2 KiB. Later changes
 * replace it. Without this space, a device could not be removed from a full list.
 */
const FIRST_CHANGE_BYTES = 3_072

/** Signs a record with the device key, for its place only, and seals it. Throws LineTooLongError. */
export async function sealRecord(
  keys: ClientKeys,
  { seen, record, device }: { seen: Seen | undefined; record: object; device: RoomDevice },
): Promise<string> {
  const { sign, thumbprint: kid } = device.signing
  const content = await signJws({ typ: LINE_TYPE, kid, line: await sha256Base64url(lineHeader(keys, seen)) }, record, sign)
  return sealLine(keys, { seen, content })
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

/**
 * Signs a list with the key of the owner, and seals it to its devices. `keyOf`: the encryption key of a device that is no
 * open invitation. Throws ListFullError.
 */
export async function sealList(
  { room, generation, seen, prev, devices, revoked, mk, before, invites, issuers = [], hosted = [], name }: NewList,
  owner: RoomDevice,
  keyOf: (device: string) => RoomDevice['encryption'] | undefined,
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
  const recipients = devices.map((kid) => {
    const key = invites.find((invite) => invite.key === kid)?.epk ?? keyOf(kid)
    if (!key) throw new Error('a device on the list has no card')
    return { kid, key }
  })
  const line = await sealPolicyLine({
    policy,
    content,
    policyKey: await derivePolicyKey({ room, mk }),
    devices: recipients,
  })
  if (line.length > MAX_LINE_BYTES - (before === undefined ? FIRST_CHANGE_BYTES : 0)) throw new ListFullError()
  return { line, keys }
}

type LastContent = Pick<OpenedContent, 'issuers' | 'owner'>
type SealedBy = [owner: RoomDevice, keyOf: Parameters<typeof sealList>[2]]

/**
 * The same for a list that follows `last`. If the list is full, it keeps the name and the provider keys of `last`: no
 * device stays on the list because the owner has another name, or the provider another key.
 */
export async function sealNextList(list: NewList, last: LastContent, ...by: SealedBy): Promise<string> {
  const sealed = sealList(list, ...by).catch((error: unknown) => {
    if (!(error instanceof ListFullError)) throw error
    return sealList({ ...list, issuers: last.issuers, name: last.owner.name }, ...by)
  })
  return (await sealed).line
}
