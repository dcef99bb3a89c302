import type { SpaceEndpoint } from '@atrium/room-client/call-space'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { makeError } from './error-of-answer.ts'

export type { RoomIdentity } from '@atrium/room-client/identity'
export type { Entry, RoomPage, SaidEntry, SealedRoom } from '@atrium/room-client/space-ops'

/**
 * Throws TypeError for an address that is not valid. The message does not quote it. A page may also pass a path of its
 * own origin.
 */
export function endpointAt(spaceUrl: string, fetch: SpaceEndpoint['fetch']): SpaceEndpoint {
  if (!/^(?:https?:\/\/|\/)/i.test(spaceUrl)) throw new TypeError('spaceUrl must be like https://api.example/v1/space')
  return { url: spaceUrl, fetch }
}

/**
 * Converts an error of the Space endpoint to the class of its code. Other errors, such as a signal's reason, are
 * returned unchanged.
 */
export function asAtriumError(failure: unknown): unknown {
  if (!(failure instanceof SpaceCallError)) return failure
  const { status, error: code, message, reason, retryAfterSeconds, headers, cause } = failure
  const requestId = headers?.get('x-request-id') ?? undefined
  return makeError({ status, code, message, reason: reason || undefined, retryAfterSeconds, requestId, cause })
}

/** The answer of the Space endpoint, or its error in the class of its code. */
export async function converted<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw asAtriumError(error)
  }
}
