import { type CallOptions, callSpace as call } from '@atrium/room-client/call-space'
import type { AnswerOf, RequestOf, SpaceOp } from '@atrium/room-client/space-ops'

/**
 * One request to the Space endpoint that this page comes from. Rejects with SpaceCallError, or with the signal's
 * reason.
 */
export function callSpace<Op extends SpaceOp>(
  request: RequestOf<Op> & { op: Op },
  options: CallOptions = {},
): Promise<AnswerOf<Op>> {
  return call<Op>({ url: '/space' }, request, { timeoutMs: 20_000, ...options })
}
