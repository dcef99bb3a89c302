import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'

export const listAgentTools: HandlerOf<'listAgentTools'> = ({ params, session }) => {
  if (params.agentId !== session.agentId)
    throw new ApiError('not_authorized', { message: 'The control token is of a session with another agent.' })
  return Promise.resolve({ status: 200, data: { tools: session.agent.tools } })
}
