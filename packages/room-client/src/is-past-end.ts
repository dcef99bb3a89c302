/** A clock that is further ahead is refused by the room. */
const GRACE_MS = 60_000

/**
 * Whether a session is past the end that its launch has named, RFC 3339. It never moves. A platform that does not say that
 * the session has ended must not keep the agent's device on the list.
 */
export function isPastEnd(expiresAt: string): boolean {
  return Date.now() > Date.parse(expiresAt) + GRACE_MS
}
