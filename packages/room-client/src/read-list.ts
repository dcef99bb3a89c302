import { derivePolicyKey } from '@atrium/sealing/client-sealed'
import { ROOM_KID, type StoredPolicyLine } from '@atrium/sealing/policy-line'
import { openDeviceRecipient, openKeyRecipient } from '@atrium/sealing/web-recipient'
import { checkSeen } from './check-page.ts'
import { mayFollow, readPolicy } from './device-policy.ts'
import { type HostedAgent, readHosted } from './hosted-agents.ts'
import type { InForce } from './listed-view.ts'
import type { RoomDevice } from './room-device.ts'
import { TamperedRoomError } from './tampered-room-error.ts'

interface Before {
  readonly room: string
  readonly owner: string
  /** The list in force. */
  readonly last: InForce | undefined
  /** What all lists before have named. */
  readonly hosted: ReadonlyMap<string, HostedAgent>
  /** Of all lines. */
  readonly hashes: readonly string[]
}

/** Checks what the owner has signed in the clear. Throws TamperedRoomError. */
export async function readList(line: StoredPolicyLine, seq: number, before: Before): Promise<InForce> {
  const { last, hashes } = before
  const policy = await readPolicy(line.policy)
  if (policy === 'signature') throw new TamperedRoomError('signature', seq)
  if (!policy || !mayFollow(policy, last, before)) throw new TamperedRoomError('policy', seq)
  const hosted = await readHosted(policy, last?.policy, before.hosted)
  if (!hosted) throw new TamperedRoomError('policy', seq)
  checkSeen(policy.seen, seq, hashes)
  const kids = line.recipients.map(({ header }) => header.kid)
  if (kids.join() !== [...policy.devices, ROOM_KID].join()) throw new TamperedRoomError('recipients', seq)
  return { seq, hash: hashes[seq] ?? '', line, policy, hosted }
}

interface Keys {
  readonly room: string
  readonly device: Pick<RoomDevice, 'privateKey'> & { readonly signing: Pick<RoomDevice['signing'], 'thumbprint'> }
  /** Of the generation of the list, if it is known. */
  readonly mk: string | undefined
}

/** The key of what is sealed in a list. undefined: it is for others only. null: it should open it, and does not. */
export async function findContentKey({ line }: InForce, { room, device, mk }: Keys) {
  const own = line.recipients.find(({ header }) => header.kid === device.signing.thumbprint)
  if (own) return (await openDeviceRecipient(device.privateKey, own)) ?? null
  const ofRoom = line.recipients.at(-1)
  if (mk === undefined || !ofRoom) return undefined
  return (await openKeyRecipient(await derivePolicyKey({ room, mk }), ofRoom)) ?? null
}
