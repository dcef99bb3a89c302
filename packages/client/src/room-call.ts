import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { makeError } from './error-of-answer.ts'

export type { RoomIdentity } from '@atrium/room-client/identity'
export type { Entry, RoomPage, SaidEntry, SealedRoom } from '@atrium/room-client/space-ops'

/** The same error in the class that its code has. What is no answer of the Space endpoint stays as it is, such as a signal's reason. */
export function asAtriumError(failure: unknown): unknown {
  if (!(failure instanceof SpaceCallError)) return failure
  const { status, error: code, message, reason, retryAfterSeconds, headers, cause } = failure
  const requestId = headers?.get('x-request-id') ?? undefined
  return makeError({ status, code, message, reason: reason || undefined, retryAfterSeconds, requestId, cause })
}
