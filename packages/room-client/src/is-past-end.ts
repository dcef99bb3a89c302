/** A clock that is further ahead is refused by the room. */
const GRACE_MS = 60_000
const MINUTE_MS = 60_000
/** The longest session that the contract allows. */
export const LONGEST_MINUTES = 24 * 60

/**
 * The end of a session that begins now, as the owner has agreed to it, RFC 3339. A platform that names a later one, or no
 * time at all, must not keep the agent's device on the list.
 */
export function agreedEnd(expiresAt: string, maxMinutes = LONGEST_MINUTES): string {
  const latestMs = Date.now() + Math.min(maxMinutes, LONGEST_MINUTES) * MINUTE_MS
  return Date.parse(expiresAt) <= latestMs ? expiresAt : new Date(latestMs).toISOString()
}

/**
 * Whether a session is past the end that was agreed at its launch. It never moves. A platform that does not say that the
 * session has ended must not keep the agent's device on the list. What is no time has passed.
 */
export function isPastEnd(expiresAt: string): boolean {
  return !(Date.now() <= Date.parse(expiresAt) + GRACE_MS)
}
