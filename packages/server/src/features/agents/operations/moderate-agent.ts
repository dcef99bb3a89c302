import { ApiError } from '../../../http/api-error.ts'
import type { HandlerOf } from '../../../http/call.ts'
import { setByOperator } from '../status.ts'
import { findAgentForUpdate, findAgentOfAnyTenant, updateAgentStatus } from '../store.ts'

export const moderateAgent: HandlerOf<'moderateAgent'> = (ctx, { params, body }) =>
  ctx.db.transaction(async (tx) => {
    const found = await findAgentOfAnyTenant(tx, params.agentId)
    const agent = found && (await findAgentForUpdate(tx, found.tenantId, found.id))
    if (!agent) throw new ApiError('not_found')
    const { tenantId, id, name } = agent
    const { status } = await updateAgentStatus(tx, tenantId, id, setByOperator(agent, body.status))
    return { status: 200, data: { id, tenant_id: tenantId, name, status } }
  })
