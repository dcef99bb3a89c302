import type { Db } from '#db/database.ts'
import { findTenant } from '../tenants/store.ts'
import type { Agent } from './agent.ts'
import { canLaunch } from './status.ts'
import { findAgent, findAgentOfAnyTenant } from './store.ts'

/**
 * The agent with this id if the caller's tenant may launch it; else undefined, whatever the reason. The secrets of its
 * tools stay sealed until toolsWithSecrets opens them.
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
