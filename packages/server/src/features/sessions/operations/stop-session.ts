import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { endSession } from '../session-transitions.ts'

export const stopSession: HandlerOf<'stopSession'> = async ({ tx, params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_authorized', { message: 'The control token is of another session.' })
  await endSession(tx, session, { status: 'stopped' })
  return { status: 200, data: { sessionId: session.id, status: 'stopped' } }
}
