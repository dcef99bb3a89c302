import type { Db } from '#db/database.ts'
import type { ResolvedKey } from '#features/keys/key.ts'
import { resolveKeys } from '#features/keys/store.ts'
import { hashCredential } from '#crypto/random.ts'
import { resolveSessions } from './session-store.ts'

const prefix = 'session '

/** The name under which the key cache finds a session. Streams and exports check their caller again by it. */
export function sessionName(token: string): string {
  return prefix + hashCredential(token).toString('base64')
}

/** Resolves names of keys (the base64 of their hash) and of sessions. Returns one entry for each, in order. */
export async function resolveCallers(db: Db, names: string[]): Promise<(ResolvedKey | undefined)[]> {
  const isSession = (name: string) => name.startsWith(prefix)
  const ofSessions = names.filter(isSession)
  // Most loads are of keys alone.
  if (ofSessions.length === 0) return resolveKeys(db, names)
  const ofKeys = names.filter((name) => !isSession(name))
  const sessions = await resolveSessions(
    db,
    ofSessions.map((name) => name.slice(prefix.length)),
  )
  const keys = ofKeys.length === 0 ? [] : await resolveKeys(db, ofKeys)
  const found = new Map([
    ...ofSessions.map((name, n) => [name, sessions[n]?.key] as const),
    ...ofKeys.map((name, n) => [name, keys[n]] as const),
  ])
  return names.map((name) => found.get(name))
}
