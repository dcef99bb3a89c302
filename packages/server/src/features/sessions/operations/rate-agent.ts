import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { insertRating } from '#features/agents/store.ts'

export const rateAgent: HandlerOf<'rateAgent'> = async ({ tx, params, session, body }) => {
  const { agentId, agentTenantId } = session
  if (params.agentId !== agentId)
    throw new ApiError('not_authorized', { message: 'The control token is of a session with another agent.' })
  if (session.heldBy === 'agent') throw new ApiError('not_authorized', { message: 'An agent does not rate itself.' })
  if (session.joinedAt === null) throw new ApiError('state_conflict', { message: 'The agent has not joined the room yet.' })
  const rating = { sessionId: session.id, stars: body.stars }
  const stored = await insertRating(tx, agentTenantId, agentId, rating)
  if (!stored) throw new ApiError('state_conflict', { message: 'This session was rated already.' })
  return { status: 201, data: { agent_id: agentId, stars: body.stars, created_at: stored.createdAt } }
}
