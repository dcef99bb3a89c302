import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { statusView } from '../session.ts'

export const getSession: HandlerOf<'getSession'> = ({ params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  return Promise.resolve({ status: 200, data: statusView(session) })
}
