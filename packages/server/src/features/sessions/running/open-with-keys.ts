import { keepTrying } from '@atrium/traffic/keep-trying'
import { UnknownMasterKeyError } from '#crypto/vault/vault.ts'
import type { SessionError } from '../session.ts'
import type { Run } from './run-model-session.ts'

/**
 * How long a session waits if this process does not have the master key. While the master key is being changed, a
 * process that has the new one replaces this process and continues the session.
 */
const keyTimeoutMs = 30_000

/** The key of the session's room cannot be opened, now or later. The cause is for the log. */
export class RoomKeyError extends Error {
  override readonly name = 'RoomKeyError'
}

export const roomKeyUnopened: SessionError = { code: 'internal_error', message: 'The server cannot open its key of the room.' }

/** Whether an error means that the master key is missing and should still be waited for. False once that time is over. */
export function masterKeyMayCome(): (error: unknown) => boolean {
  const untilMs = performance.now() + keyTimeoutMs
  return (error) => error instanceof UnknownMasterKeyError && performance.now() < untilMs
}

/** Opens the room's key, or what is opened with it. Throws RoomKeyError if a further attempt would fail alike. */
export async function openWithKeys<T>({ session, signal }: Run, open: () => Promise<T>): Promise<T> {
  try {
    return await keepTrying(open, { signal, isPassing: masterKeyMayCome() })
  } catch (cause) {
    signal.throwIfAborted()
    throw new RoomKeyError(`the key of the room of session ${session.id} cannot be opened`, { cause })
  }
}
