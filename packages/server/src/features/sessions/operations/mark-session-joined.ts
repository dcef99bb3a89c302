import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { joinSession } from '../session-transitions.ts'
import { statusView } from '../session.ts'

export const markSessionJoined: HandlerOf<'markSessionJoined'> = async ({ tx, params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  if (session.heldBy !== 'agent')
    throw new ApiError('not_authorized', { message: 'Only the agent’s own control token can report that it joined.' })
  const joined = await joinSession(tx, session)
  if (!joined) throw new ApiError('state_conflict', { message: 'The session has ended.' })
  return { status: 200, data: statusView(joined) }
}
