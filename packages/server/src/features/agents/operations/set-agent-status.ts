import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { agentView } from '../agent.ts'
import { setByOwner } from '../status.ts'
import { findAgentForUpdate, updateAgentStatus } from '../store.ts'

export const setAgentStatus: HandlerOf<'setAgentStatus'> = (ctx, { tenant, params, body }) =>
  ctx.db.lane(params.agentId).transaction(async (tx) => {
    const agent = await findAgentForUpdate(tx, tenant, params.agentId)
    if (!agent) throw new ApiError('not_found')
    const standing = setByOwner(agent, body.status)
    if (!standing) throw new ApiError('state_conflict', { message: `The agent is ${agent.status}; an operator lifts that.` })
    return { status: 200, data: agentView(await updateAgentStatus(tx, tenant, agent.id, standing)) }
  })
