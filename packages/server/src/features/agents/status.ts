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
  const before = statusBefore ?? (status as OwnerStatus)
  return wanted === 'lifted' ? { status: before, statusBefore: null } : { status: wanted, statusBefore: before }
}

/** active: every tenant may launch it. private: its own tenant. All others: no tenant. */
export function canLaunch(agent: { tenantId: string; status: AgentStatusName }, callerTenantId: string): boolean {
  return agent.status === 'active' || (agent.status === 'private' && agent.tenantId === callerTenantId)
}
