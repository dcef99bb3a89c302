import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { agentView } from '../agent.ts'
import { findAgent } from '../store.ts'

export const getAgent: HandlerOf<'getAgent'> = async ({ ctx, tenantId, params }) => {
  const agent = await findAgent(ctx.db, tenantId, params.agentId)
  if (!agent) throw new ApiError('not_found')
  return { status: 200, data: agentView(agent) }
}
