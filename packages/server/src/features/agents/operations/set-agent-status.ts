import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { agentView } from '../agent.ts'
import { setByOwner } from '../status.ts'
import { findAgentForUpdate, updateAgentStatus } from '../store.ts'

export const setAgentStatus: HandlerOf<'setAgentStatus'> = async ({ tx, tenantId, params, body }) => {
  const agent = await findAgentForUpdate(tx, tenantId, params.agentId)
  if (!agent) throw new ApiError('not_found')
  const standing = setByOwner(agent, body.status)
  if (!standing) throw new ApiError('state_conflict', { message: `The agent is ${agent.status}; an operator lifts that.` })
  return { status: 200, data: agentView(await updateAgentStatus(tx, tenantId, agent.id, standing)) }
}
