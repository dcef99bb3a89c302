import { type CallOptions, callSpace as call } from '@atrium/room-client/call-space'
import { getServiceOrigin } from '../service.ts'
import type { AnswerOf, RequestOf, SpaceOp } from '@atrium/room-client/space-ops'

/** Of an action that somebody waits for. Done twice because an answer was lost, it has the same result. */
export const RETRIES = 3

/**
 * Sends one request to the Space endpoint. Rejects with SpaceCallError, or with the signal's
 * reason.
 */
export function callSpace<Op extends SpaceOp>(
  request: RequestOf<Op> & { op: Op },
  options: CallOptions = {},
): Promise<AnswerOf<Op>> {
  return call<Op>({ url: `${getServiceOrigin()}/space` }, request, { timeoutMs: 20_000, ...options })
}
