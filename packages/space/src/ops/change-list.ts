import type { AdmittedAgent, Member, PolicyRecord } from '@atrium/sealing/records'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { changePolicy } from './change-policy.ts'
import { addressesOf, membersOf } from './create.ts'
import type { AdmitRequest, ExpelRequest } from './request.ts'

/** As many as `create` accepts, 1,000 accounts and 100 agents: a list that is larger could change no more. */
const maxMembers = 1_100

/** Admits accounts or agents. One that was removed before is admitted again. */
export function admit(ctx: SpaceContext, request: AdmitRequest, caller: Caller) {
  return changeList(ctx, request, caller, (policy, at) => {
    const agents = (request.agents ?? []).map((id) => ({ id, admitted_at: at }))
    return {
      allow: put(policy.allow ?? [], membersOf(request.emails ?? [], at), ({ email }) => email),
      agents: put(policy.agents ?? [], agents, ({ id }) => id),
    }
  })
}

/**
 * Removes accounts or agents from the list; they stay in the log as revoked. One that was never on the list is not
 * recorded.
 */
export function expel(ctx: SpaceContext, request: ExpelRequest, caller: Caller) {
  return changeList(ctx, request, caller, (policy, at) => {
    const emails = new Set(addressesOf(request.emails ?? []))
    const agents = new Set(request.agents ?? [])
    const revoke = <One extends Member | AdmittedAgent>(one: One, named: boolean): One =>
      named && one.revoked_at === undefined ? { ...one, revoked_at: at } : one
    return {
      allow: (policy.allow ?? []).map((member) => revoke(member, emails.has(member.email))),
      agents: (policy.agents ?? []).map((agent) => revoke(agent, agents.has(agent.id))),
    }
  })
}

type Lists = Required<Pick<PolicyRecord, 'allow' | 'agents'>>

function changeList(
  ctx: SpaceContext,
  request: AdmitRequest | ExpelRequest,
  caller: Caller,
  change: (policy: PolicyRecord, at: string) => Lists,
) {
  if (!request.emails?.length && !request.agents?.length) throw new SpaceError('invalid_request', 'name emails, agents or both')
  return changePolicy(ctx, request, caller, (policy, at) => {
    if (policy.policy !== 'email') throw new SpaceError('invalid_request', 'an open room has no list')
    const { allow, agents } = change(policy, at)
    if (allow.length + agents.length > maxMembers) throw new SpaceError('invalid_request', `a list goes up to ${maxMembers}`)
    return { ...policy, allow, ...(agents.length > 0 ? { agents } : {}), at }
  })
}

/** Replaces existing members and appends new ones. */
function put<One extends Member | AdmittedAgent>(
  list: readonly One[],
  named: readonly One[],
  nameOf: (one: One) => string,
): One[] {
  const added = new Map(named.map((one) => [nameOf(one), one]))
  const kept = list.map((one) => {
    const again = added.get(nameOf(one))
    added.delete(nameOf(one))
    // A member keeps the time of the first admission.
    return again && one.revoked_at !== undefined ? again : one
  })
  return [...kept, ...added.values()]
}
