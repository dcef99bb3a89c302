import type { Db } from '#db/database.ts'
import { findTenant } from '../tenants/store.ts'
import type { Agent } from './agent.ts'
import { mayLaunch } from './status.ts'
import { findAgent, findAgentOfAnyTenant } from './store.ts'

/**
 * The agent with this id, if that tenant may launch it; else undefined, whatever the reason. Its tools' secrets stay sealed in it until
 * toolsWithSecrets opens them.
 */
export async function findLaunchable(db: Db, callerTenantId: string, agentId: string): Promise<Agent | undefined> {
  const agent = await findAgentOfAnyTenant(db, agentId)
  if (!agent || !mayLaunch(agent, callerTenantId)) return undefined
  // What a suspended tenant made runs for nobody: it would use that tenant's provider keys.
  const owner = await findTenant(db, agent.tenantId)
  return owner?.status === 'active' ? agent : undefined
}

/** Whether an operator holds the agent or has suspended its tenant. What its owner sets is for launches to come, and is not asked here. */
export async function isHeldByOperator(db: Db, tenantId: string, agentId: string): Promise<boolean> {
  const [agent, owner] = await Promise.all([findAgent(db, tenantId, agentId), findTenant(db, tenantId)])
  return agent?.statusBefore !== null || owner?.status !== 'active'
}
