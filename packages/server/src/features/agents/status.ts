import type { Db } from '#db/database.ts'
import { findTenant } from '#features/tenants/store.ts'
import type { Agent } from './agent.ts'
import { findAgent, findAgentOfAnyTenant } from './store.ts'

export type OwnerStatus = 'draft' | 'active' | 'private'
export type HeldStatus = 'suspended' | 'pending'
export type AgentStatusName = OwnerStatus | HeldStatus

/**
 * statusBefore: the owner's status, which the operator restores by lifting a hold; null: no operator holds the agent.
 */
export interface AgentStatus {
  status: AgentStatusName
  statusBefore: OwnerStatus | null
}

/** The owner moves freely between the three. undefined: an operator holds the agent. */
export function setByOwner({ statusBefore }: AgentStatus, wanted: OwnerStatus): AgentStatus | undefined {
  return statusBefore === null ? { status: wanted, statusBefore } : undefined
}

/** The operator moves freely between the two. Lifting an agent that no operator holds changes nothing. */
export function setByOperator({ status, statusBefore }: AgentStatus, wanted: HeldStatus | 'lifted'): AgentStatus {
  // Without an earlier status no operator holds the agent: its status is the owner's.
  const before = statusBefore ?? ownersOf(status)
  return wanted === 'lifted' ? { status: before, statusBefore: null } : { status: wanted, statusBefore: before }
}

function ownersOf(status: AgentStatusName): OwnerStatus {
  if (status === 'suspended' || status === 'pending') throw new Error(`an agent is ${status}, and has no status before it`)
  return status
}

/** active: every tenant may launch it. private: its own tenant. All others: no tenant. */
export function canLaunch(agent: { tenantId: string; status: AgentStatusName }, callerTenantId: string): boolean {
  return agent.status === 'active' || (agent.status === 'private' && agent.tenantId === callerTenantId)
}

/**
 * The agent with this id if the caller's tenant may launch it; else undefined, whatever the reason. The secrets of its
 * tools stay sealed until openToolSecrets opens them.
 */
export async function findLaunchable(db: Db, callerTenantId: string, agentId: string): Promise<Agent | undefined> {
  const agent = await findAgentOfAnyTenant(db, agentId)
  if (!agent || !canLaunch(agent, callerTenantId)) return undefined
  // An agent of a suspended tenant runs for no tenant: it would use the suspended tenant's provider keys.
  const owner = await findTenant(db, agent.tenantId)
  return owner?.status === 'active' ? agent : undefined
}

/**
 * Whether an operator holds the agent or has suspended its tenant. The owner's status applies only to future launches.
 */
export async function isHeldByOperator(db: Db, tenantId: string, agentId: string): Promise<boolean> {
  const [agent, owner] = await Promise.all([findAgent(db, tenantId, agentId), findTenant(db, tenantId)])
  return agent?.statusBefore !== null || owner?.status !== 'active'
}
