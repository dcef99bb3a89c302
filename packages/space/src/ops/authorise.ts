import { hash } from 'node:crypto'
import { type Account, admit, type Standing } from '@atrium/identity/admit'
import { type DeviceKey, parseDeviceKey } from '@atrium/identity/device-key'
import { isProof } from '@atrium/identity/proof'
import { ProviderUnavailable } from '@atrium/identity/provider-unavailable'
import type { Author, PolicyRecord } from '@atrium/sealing/records'
import { SpaceError } from '../space-error.ts'
import type { SpaceContext } from '../space-context.ts'
import type { Identified } from './request.ts'

/** Who asks, as far as they showed it. */
export interface Visitor {
  account?: Account
  /** Thumbprint of the device key. */
  key?: string
  proven: boolean
}

/**
 * Whether the caller may act in the room, in the contract's order: token, nonce, list; then the proof of possession. The policy record
 * was opened to find out; nothing else is before this has passed. In an open room an identity is not needed, but one that is shown
 * must be right.
 */
export async function authorise(ctx: SpaceContext, request: Identified, policy: PolicyRecord, message: string): Promise<Visitor> {
  const { idToken, spk } = request
  const account =
    policy.policy === 'email' || idToken !== undefined
      ? await identify(ctx, { idToken, spk }, policy.policy === 'email' ? (found) => standingOf(policy, found) : () => 'listed')
      : undefined
  const device = spk === undefined ? undefined : parseDeviceKey(spk)
  if (spk !== undefined && !device) throw new SpaceError('invalid_request', 'spk is not a public EC P-256 key')
  const proven = checkProof(request, device, message, policy.require_proof === true)
  return { ...(account ? { account } : {}), ...(device ? { key: device.thumbprint } : {}), proven }
}

/** The account that idToken and spk prove; throws the contract's reasons. */
export async function identify(
  ctx: SpaceContext,
  presented: { idToken: unknown; spk: unknown },
  standing: (account: Account) => Standing,
): Promise<Account> {
  const { provider } = ctx
  if (!provider) {
    if (presented.idToken === undefined || presented.spk === undefined) throw new SpaceError('not_authorized', 'unsigned')
    throw new SpaceError('unavailable', 'no identity provider is configured here')
  }
  try {
    const expected = { keys: provider.keys, issuer: provider.issuer, audience: provider.clientId, nowMs: Date.now() }
    const admission = await admit(presented, expected, async (account) => standing(account))
    if (!admission.ok) throw new SpaceError('not_authorized', admission.reason)
    return admission.account
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw new SpaceError('unavailable', 'the identity provider cannot be reached', 30)
    throw error
  }
}

/** The owner is let in always: a list that its keeper cannot read helps nobody. */
function standingOf({ owner, allow = [] }: PolicyRecord, { email }: Account): Standing {
  if (owner && 'email' in owner && owner.email === email) return 'listed'
  const member = allow.find((one) => one.email === email)
  if (!member) return 'absent'
  return member.revoked_at === undefined ? 'listed' : 'revoked'
}

function checkProof({ op, room, proof }: Identified, device: DeviceKey | undefined, message: string, required: boolean): boolean {
  if (proof === undefined) {
    if (required) throw new SpaceError('not_authorized', 'unproven')
    return false
  }
  const sha256 = hash('sha256', message, 'hex')
  const genuine = device && isProof(proof, { publicKey: device.publicKey, op, room, sha256, nowMs: Date.now() })
  if (!genuine) throw new SpaceError('not_authorized', 'unproven')
  return true
}

/** Only whoever created the room may change it: the account, or the device that proves anew that it holds the key. */
export function assertOwner({ owner }: PolicyRecord, { account, key, proven }: Visitor): void {
  const owns = owner && ('email' in owner ? owner.email === account?.email : proven && owner.key === key)
  if (!owns) throw new SpaceError('not_authorized', account || key ? 'not_owner' : 'unsigned')
}

/** The visitor as an entry names them. */
export function authorOf({ account, key, proven }: Visitor): Author {
  const device = { ...(key === undefined ? {} : { key }), ...(proven ? { proven: true as const } : {}) }
  if (!account) return { kind: 'anonymous', ...device }
  return {
    kind: 'account',
    email: account.email,
    ...(account.name === undefined ? {} : { name: shorten(account.name) }),
    ...device,
  }
}

/** A provider may send any name; a record takes 200 characters. */
function shorten(name: string): string {
  return Array.from(name).slice(0, 200).join('')
}
