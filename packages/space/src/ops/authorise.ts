import { hash } from 'node:crypto'
import type { Account, Agent, ListStatus } from '@atrium/identity/admit'
import { type DeviceKey, parseDeviceKey } from '@atrium/identity/device-key'
import { isProof, proofId } from '@atrium/identity/proof'
import { proofContent } from '@atrium/sealing/proof'
import type { Author, PolicyRecord } from '@atrium/sealing/records'
import { SpaceError } from '../space-error.ts'
import type { SpaceContext } from '../space-context.ts'
import { type Principal, identify } from './identify.ts'
import type { CredentialFields } from './request.ts'

/** Who asks, as far as they showed it. */
export interface Requester {
  account?: Account | undefined
  agent?: Agent | undefined
  /** Thumbprint of the device key. */
  key?: string
  proven: boolean
  /** Of a genuine proof: the same however often it is sent, and of no other. */
  proofId?: string
  /** Until when the token that was shown holds. */
  untilMs?: number | undefined
}

/**
 * Whether the caller may act in the room, in the contract's order: token, nonce, list; then the proof of possession. The policy record
 * was opened to find out; nothing else is before this has passed. In an open room an identity is not needed, but one that is shown
 * must be right.
 */
export async function authorise(ctx: SpaceContext, request: CredentialFields, policy: PolicyRecord): Promise<Requester> {
  const { idToken, spk } = request
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

/** The owner is let in always: a list that its keeper cannot read helps nobody. */
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
 * Clients of before signed the empty text for these two. It stays accepted: `remove` has no arguments, and a `create` that is sent again finds
 * the room there. It was never safe for `admit` and `expel`, where a captured proof would let in another account.
 */
const signsNothing: ReadonlySet<string> = new Set(['create', 'remove'])

/**
 * Only whoever created the room may change it: the account, or the device that proves anew that it holds the key. Never an agent: it has
 * no say over who else is in the room, whatever key it holds.
 */
export function assertOwner({ owner }: PolicyRecord, { account, agent, key, proven }: Requester): void {
  const owns = owner && !agent && ('email' in owner ? owner.email === account?.email : proven && owner.key === key)
  if (!owns) throw new SpaceError('not_authorized', account || agent || key ? 'not_owner' : 'unsigned')
}

/** The visitor as an entry names them. `claimedName` counts for a guest alone: a token has the name of its bearer. */
export function authorOf({ account, agent, key, proven }: Requester, claimedName?: string): Author {
  const device = { ...(key === undefined ? {} : { key }), ...(proven ? { proven: true as const } : {}) }
  const name = account || agent ? (account ?? agent)?.name : claimedName
  const named = { ...(name === undefined ? {} : { name: shorten(name) }), ...device }
  if (agent) return { kind: 'agent', id: agent.id, ...named }
  return account ? { kind: 'account', email: account.email, ...named } : { kind: 'anonymous', ...named }
}

/** A provider may send any name; a record takes 200 characters. */
function shorten(name: string): string {
  return Array.from(name).slice(0, 200).join('')
}
