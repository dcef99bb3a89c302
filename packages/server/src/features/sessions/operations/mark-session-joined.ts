import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { joinSession } from '../join-session.ts'
import { statusView } from '../session.ts'

export const markSessionJoined: HandlerOf<'markSessionJoined'> = async ({ ctx, params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  if (session.heldBy !== 'agent')
    throw new ApiError('not_authorized', { message: 'Only the agent’s own control token says that it came.' })
  const joined = await joinSession(ctx.db, session)
  if (!joined) throw new ApiError('state_conflict', { message: 'The session has ended.' })
  return { status: 200, data: statusView(joined) }
}
