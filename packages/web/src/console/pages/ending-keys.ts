/** The fields that decide whether and when a key ends, as the API returns them. */
interface Key {
  id: string
  expires_at: string | null
  revoked_at: string | null
  replaced_by: string | null
}

export function isValidAt({ revoked_at, expires_at }: Key, ms: number): boolean {
  return revoked_at === null && (expires_at === null || Date.parse(expires_at) > ms)
}

/**
 * Returns the keys that are valid now, end before `untilMs`, and have no valid replacement. A key that was rotated is
 * meant to end, if its replacement or a later one is valid.
 */
export function findEnding<K extends Key>(keys: readonly K[], { nowMs, untilMs }: { nowMs: number; untilMs: number }): K[] {
  const byId = new Map<string, Key>(keys.map((key) => [key.id, key]))
  const isFollowed = ({ replaced_by }: Key): boolean => {
    const next = replaced_by === null ? undefined : byId.get(replaced_by)
    return next !== undefined && (isValidAt(next, nowMs) || isFollowed(next))
  }
  return keys.filter((key) => isValidAt(key, nowMs) && !isValidAt(key, untilMs) && !isFollowed(key))
}
