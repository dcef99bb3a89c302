import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { agentView } from '../agent.ts'
import { setByOperator, setByOwner } from '../status.ts'
import { findAgentForUpdate, findAgentOfAnyTenant, updateAgentStatus } from '../store.ts'

export const setAgentStatus: HandlerOf<'setAgentStatus'> = async ({ tx, tenantId, params, body }) => {
  const agent = await findAgentForUpdate(tx, tenantId, params.agentId)
  if (!agent) throw new ApiError('not_found')
  const status = setByOwner(agent, body.status)
  if (!status) throw new ApiError('state_conflict', { message: `The agent is ${agent.status}; an operator lifts that.` })
  return { status: 200, data: agentView(await updateAgentStatus(tx, tenantId, agent.id, status)) }
}

/**
 * The operator's call. Commits the status first, so that no launch follows the stop of the sessions; then ends the
 * sessions in transactions of their own.
 */
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
