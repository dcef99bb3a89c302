import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { ratingView } from '../agent.ts'
import { findAgentOfAnyTenant } from '../store.ts'

export const getAgentRatings: HandlerOf<'getAgentRatings'> = async ({ ctx, tenantId, params }) => {
  const agent = await findAgentOfAnyTenant(ctx.db, params.agentId)
  if (!agent || (agent.tenantId !== tenantId && agent.status !== 'active')) throw new ApiError('not_found')
  return { status: 200, data: ratingView(agent) }
}
