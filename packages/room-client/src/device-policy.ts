import type { Seen } from '@atrium/sealing/client-sealed'
import { isLineHash } from '@atrium/sealing/line'
import type { EcPublicKey } from '@atrium/sealing/web-recipient'
import { isSignedBy, parseJws, signJws } from './device-jws.ts'
import { areHosted, type HostedAgent } from './hosted-agents.ts'
import { thumbprintOf } from './identity.ts'
import type { SealedIssuer } from './member-standing.ts'
import { parseJson } from './parse-json.ts'
import { areProviderKeys } from './sealed-token.ts'
import { type Card, readCard, readKey, type RoomDevice } from './room-device.ts'

const POLICY_TYPE = 'atrium-policy+jws'
/** Of a list that names hosted agents. A reader that does not know it refuses the list, instead of hiding who reads along. */
const HOSTED_TYPE = 'atrium-hosted-policy+jws'

/** The largest list that a line of 64 KiB holds. */
export const MAX_DEVICES = 100
export const MAX_REVOKED = 200

/** The list of devices that the owner signs, which the service can read. Keys are thumbprints. */
export interface DevicePolicy {
  readonly room: string
  readonly generation: number
  /** Absent on line 0 alone, as `prev`. */
  readonly seen?: Seen | undefined
  /** The hash of the line with the list before. */
  readonly prev?: string | undefined
  /** The public access key. */
  readonly access: string
  readonly owner: string
  /** With the owner and the open invitations. */
  readonly devices: readonly string[]
  readonly revoked: readonly string[]
  /** The agents whose operator can read along; absent without one. */
  readonly hosted?: readonly HostedAgent[] | undefined
  /** SHA-256 of what is sealed in the line, in base64url. */
  readonly content: string
}

/** An invitation, as the owner seals it. */
export interface Invite {
  readonly key: string
  readonly spk: EcPublicKey
  readonly epk: EcPublicKey
  /** Who was invited, such as an e-mail address. */
  readonly for: string
}

/** What is sealed in a line with a list. */
export interface PolicyContent {
  readonly mk: string
  /** The `mk` of the generation before; absent in generation 0. */
  readonly before?: string
  /** The card of the owner. */
  readonly owner: string
  readonly invites: readonly Invite[]
  /** Keys of identity providers that the owner has seen. */
  readonly issuers?: readonly SealedIssuer[]
}

export function signPolicy(policy: DevicePolicy, { signing }: RoomDevice): Promise<string> {
  const typ = policy.hosted ? HOSTED_TYPE : POLICY_TYPE
  return signJws({ typ, jwk: signing.spk }, policy, signing.sign)
}

/** The policy, if it has the form of one. signature: it is not signed by the owner that it names. */
export async function readPolicy(jws: string): Promise<DevicePolicy | 'signature' | undefined> {
  const parsed = parseJws(jws, POLICY_TYPE) ?? parseJws(jws, HOSTED_TYPE)
  if (!parsed || !isPolicy(parsed.payload)) return undefined
  const { hosted } = parsed.payload
  if ((parsed.header['typ'] === HOSTED_TYPE) !== (hosted !== undefined)) return undefined
  if (hosted !== undefined && !areHosted(hosted, parsed.payload)) return undefined
  const key = readKey(parsed.header['jwk'])
  if (!key || (await thumbprintOf(key)) !== parsed.payload.owner || !(await isSignedBy(jws, key))) return 'signature'
  return parsed.payload
}

const isHash = (text: unknown) => typeof text === 'string' && isLineHash(text)

function isSeen(value: unknown): value is Seen {
  const { seq = -1, hash } = (value ?? {}) as Partial<Seen>
  return Number.isSafeInteger(seq) && seq >= 0 && isHash(hash)
}

function isPolicy(value: object): value is DevicePolicy {
  const { room, generation, seen, prev, access, owner, devices, revoked, content } = value as Partial<DevicePolicy>
  const areHashes = (list: unknown): list is string[] => Array.isArray(list) && list.every(isHash)
  if (!areHashes(devices) || !areHashes(revoked)) return false
  return (
    typeof room === 'string' &&
    Number.isSafeInteger(generation) &&
    (seen === undefined || isSeen(seen)) &&
    (prev === undefined || isHash(prev)) &&
    [access, owner, content].every(isHash) &&
    devices.includes(owner as string) &&
    new Set([...devices, ...revoked]).size === devices.length + revoked.length
  )
}

/**
 * Whether the policy may follow the one in force, or may be the first one of the room of this owner. A device leaves the
 * list only together with the key.
 */
export function mayFollow(
  next: DevicePolicy,
  last: { policy: DevicePolicy; hash: string } | undefined,
  first: { room: string; owner: string },
) {
  if (next.room !== first.room || next.owner !== first.owner || next.prev !== last?.hash) return false
  if (!last) return next.generation === 0
  const { generation, access, devices } = last.policy
  if (next.generation === generation) return next.access === access && devices.every((key) => next.devices.includes(key))
  return next.generation === generation + 1 && next.access !== access
}

/** What was sealed in a list, with the card of the owner opened. */
export interface OpenedContent {
  readonly mk: string
  readonly before: string | undefined
  readonly owner: Card
  readonly invites: readonly Invite[]
  readonly issuers: readonly SealedIssuer[]
}

/** undefined: what was sealed is none. */
export async function readContent(
  text: string,
  { room, owner, devices, generation, hosted = [] }: DevicePolicy,
): Promise<OpenedContent | undefined> {
  const value = (parseJson(text) ?? {}) as Partial<PolicyContent>
  const { mk, before, invites, issuers = [] } = value
  const card: Card | undefined = await readCard(value.owner, room)
  if (card?.key !== owner || typeof mk !== 'string' || !Array.isArray(invites)) return undefined
  if ((before !== undefined) !== generation > 0 || !['string', 'undefined'].includes(typeof before)) return undefined
  for (const invite of invites) {
    const spk = readKey(invite?.spk)
    const isForm = spk && readKey(invite.epk) && typeof invite.for === 'string' && devices.includes(invite.key)
    if (!isForm || (await thumbprintOf(spk)) !== invite.key || hosted.some(({ device }) => device === invite.key))
      return undefined
  }
  return isIssuers(issuers) ? { mk, before, owner: card, invites, issuers } : undefined
}

function isIssuers(value: unknown): value is readonly SealedIssuer[] {
  return Array.isArray(value) && value.every((one) => typeof one?.issuer === 'string' && areProviderKeys(one.keys))
}
