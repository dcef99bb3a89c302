import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { statusView } from '../session.ts'

export const getSession: HandlerOf<'getSession'> = ({ params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  return Promise.resolve({ status: 200, data: statusView(session) })
}

export const listAgentTools: HandlerOf<'listAgentTools'> = ({ params, session }) => {
  if (params.agentId !== session.agentId)
    throw new ApiError('not_authorized', { message: 'The control token is of a session with another agent.' })
  return Promise.resolve({ status: 200, data: { tools: session.agent.tools } })
}
