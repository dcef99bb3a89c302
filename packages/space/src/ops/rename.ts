import type { Caller, SpaceContext } from '../space-context.ts'
import { changePolicy } from './change-policy.ts'
import type { RenameRequest } from './request.ts'

/** Changes the title of the room. */
export function rename(ctx: SpaceContext, request: RenameRequest, caller: Caller) {
  return changePolicy(ctx, request, caller, (policy, at) => ({ ...policy, title: request.title, at }))
}
