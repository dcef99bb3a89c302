import { hash } from 'node:crypto'
import type { Account, Agent, ListStatus } from '@atrium/identity/admit'
import { type DeviceKey, parseDeviceKey } from '@atrium/identity/device-key'
import { isProof, proofId } from '@atrium/identity/proof'
import { proofContent } from '@atrium/sealing/proof'
import type { Author, PolicyRecord } from '@atrium/sealing/records'
import { SpaceError } from '../space-error.ts'
import type { SpaceContext } from '../space-context.ts'
import { type Principal, identify, sent } from './identify.ts'
import type { CredentialFields } from './request.ts'

/** The caller, as far as the request proves it. */
export interface Requester {
  account?: Account | undefined
  agent?: Agent | undefined
  /** Thumbprint of the device key. */
  key?: string
  proven: boolean
  /** Identifies a valid proof: the same for every repeat of it, and for no other proof. */
  proofId?: string
  /** The expiry of the presented token. */
  untilMs?: number | undefined
}

/**
 * Checks whether the caller may act in the room, in the contract's order: token, nonce, list, then the proof of
 * possession. Before these checks pass, only the policy record is opened, which they need. In an open room an
 * identity is optional, but a presented one must be valid.
 */
export async function authorise(ctx: SpaceContext, request: CredentialFields, policy: PolicyRecord): Promise<Requester> {
  const [idToken, spk] = [sent(request.idToken), sent(request.spk)]
  const hasList = policy.policy === 'email'
  const principal =
    hasList || idToken !== undefined
      ? await identify(ctx, { idToken, spk }, hasList ? (found) => listStatusOf(policy, found) : () => 'listed')
      : undefined
  const device = spk === undefined ? undefined : parseDeviceKey(spk)
  if (spk !== undefined && !device) throw new SpaceError('invalid_request', 'spk is not a public EC P-256 key')
  const proven = checkProof(request, device, policy.require_proof === true)
  return {
    ...principal,
    ...(device ? { key: device.thumbprint } : {}),
    proven,
    ...(proven && request.proof !== undefined ? { proofId: proofId(request.proof) } : {}),
  }
}

/** The owner always has access, because a list is useless if its owner cannot read it. */
function listStatusOf({ owner, allow = [], agents = [] }: PolicyRecord, { account, agent }: Principal): ListStatus {
  if (account && owner && 'email' in owner && owner.email === account.email) return 'listed'
  const listed = agent ? agents.find(({ id }) => id === agent.id) : allow.find(({ email }) => email === account.email)
  if (!listed) return 'absent'
  return listed.revoked_at === undefined ? 'listed' : 'revoked'
}

function checkProof(request: CredentialFields, device: DeviceKey | undefined, required: boolean): boolean {
  const { op, room, proof } = request
  if (proof === undefined) {
    if (required) throw new SpaceError('not_authorized', 'unproven')
    return false
  }
  const isOver = (content: string) =>
    device !== undefined &&
    isProof(proof, { publicKey: device.publicKey, op, room, sha256: hash('sha256', content, 'hex'), nowMs: Date.now() })
  if (!isOver(proofContent(request)) && !(signsNothing.has(op) && isOver(''))) throw new SpaceError('not_authorized', 'unproven')
  return true
}

/**
 * Earlier clients signed the empty text for these two ops. That stays accepted: `remove` has no arguments, and a
 * repeated `create` finds the room. For `admit` and `expel` it was never safe, because a captured proof would admit
 * another account.
 */
const signsNothing: ReadonlySet<string> = new Set(['create', 'remove'])

/**
 * Only the creator of the room may change it: the account, or the device that proves again that it holds the key. An
 * agent never may, whatever key it holds.
 */
export function assertOwner({ owner }: PolicyRecord, { account, agent, key, proven }: Requester): void {
  const owns = owner && !agent && ('email' in owner ? owner.email === account?.email : proven && owner.key === key)
  if (!owns) throw new SpaceError('not_authorized', account || agent || key ? 'not_owner' : 'unsigned')
}

/** The author of an entry. `claimedName` counts only for a guest, because a token contains the name of its holder. */
export function authorOf({ account, agent, key, proven }: Requester, claimedName?: string): Author {
  const device = { ...(key === undefined ? {} : { key }), ...(proven ? { proven: true as const } : {}) }
  const name = account || agent ? (account ?? agent)?.name : claimedName
  const named = { ...(name === undefined ? {} : { name: shorten(name) }), ...device }
  if (agent) return { kind: 'agent', id: agent.id, ...named }
  return account ? { kind: 'account', email: account.email, ...named } : { kind: 'anonymous', ...named }
}

/** A provider may send a name of any length; a record has room for 200 characters. */
function shorten(name: string): string {
  return Array.from(name).slice(0, 200).join('')
}
