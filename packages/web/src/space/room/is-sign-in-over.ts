import { SpaceCallError } from '@atrium/room-client/space-call-error'

/** What signing in again puts right. Any other refusal means that one is not, or no longer, welcome. */
export function isSignInOver(failure: unknown): boolean {
  if (!(failure instanceof SpaceCallError) || failure.status !== 403) return false
  const { reason } = failure
  return reason === 'unsigned' || reason === 'nonce_mismatch' || reason.startsWith('token: ')
}
