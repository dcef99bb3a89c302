import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { setByOperator } from '../status.ts'
import { findAgentForUpdate, findAgentOfAnyTenant, updateAgentStatus } from '../store.ts'

/** The status first, so that no launch comes after the sessions are stopped; the sessions then one by one. */
export const moderateAgent: HandlerOf<'moderateAgent'> = async ({ ctx, params, body }) => {
  const { tenantId, id, name, status } = await ctx.db.lane(params.agentId).transaction(async (tx) => {
    const found = await findAgentOfAnyTenant(tx, params.agentId)
    const agent = found && (await findAgentForUpdate(tx, found.tenantId, found.id))
    if (!agent) throw new ApiError('not_found')
    return updateAgentStatus(tx, agent.tenantId, agent.id, setByOperator(agent, body.status))
  })
  if (status === 'suspended') await ctx.stopSessionsOfAgent(tenantId, id)
  return { status: 200, data: { id, tenant_id: tenantId, name, status } }
}
