import { analysts, developers, moderators, owners, type MemberRole } from '@atrium/contract/roles'
import { currentSession } from './api.ts'

const allowed = {
  /** Members, and keys of model providers. */
  own: owners,
  /** Keys, webhooks, agents, credits. */
  develop: developers,
  /** Reading these. */
  analyse: analysts,
  /** Collections, items, artifacts. */
  curate: moderators,
} as const satisfies Record<string, readonly MemberRole[]>

/** Whether the signed-in member may do it. The console hides what the server would refuse. */
export function may(what: keyof typeof allowed): boolean {
  const { role } = currentSession()
  const roles: readonly MemberRole[] = allowed[what]
  return role !== null && roles.includes(role)
}
