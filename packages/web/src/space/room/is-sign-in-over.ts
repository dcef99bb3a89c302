import { SpaceCallError } from '@atrium/room-client/space-call-error'

/**
 * Whether signing in again may resolve the rejection. Any other rejection means that the visitor is not, or no
 * longer, on the list.
 */
export function isSignInOver(failure: unknown): boolean {
  if (!(failure instanceof SpaceCallError) || failure.status !== 403) return false
  const { reason } = failure
  return reason === 'unsigned' || reason === 'nonce_mismatch' || reason.startsWith('token: ')
}
