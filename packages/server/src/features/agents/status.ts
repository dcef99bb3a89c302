export type OwnerStatus = 'draft' | 'active' | 'private'
export type HeldStatus = 'suspended' | 'pending'
export type AgentStatus = OwnerStatus | HeldStatus

/** Where an agent stands. statusBefore is what lifting an operator's hold brings back; null: none holds it. */
export interface Standing {
  status: AgentStatus
  statusBefore: OwnerStatus | null
}

/** The owner goes freely between the three. undefined: an operator holds the agent. */
export function setByOwner({ statusBefore }: Standing, wanted: OwnerStatus): Standing | undefined {
  return statusBefore === null ? { status: wanted, statusBefore } : undefined
}

/** The operator goes freely between the two. Lifting a hold that is not there changes nothing. */
export function setByOperator(standing: Standing, wanted: HeldStatus | 'lifted'): Standing {
  const before = standing.statusBefore ?? (standing.status as OwnerStatus)
  return wanted === 'lifted' ? { status: before, statusBefore: null } : { status: wanted, statusBefore: before }
}

/** active: by everyone. private: by its own tenant. All others: by nobody. */
export function mayLaunch(agent: { tenantId: string; status: AgentStatus }, callerTenantId: string): boolean {
  return agent.status === 'active' || (agent.status === 'private' && agent.tenantId === callerTenantId)
}
