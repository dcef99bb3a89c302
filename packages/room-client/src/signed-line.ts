import { MAX_TOKEN_LENGTH } from '@atrium/identity/rs256-form'
import { isTimestamp } from '@atrium/sealing/check'
import { type ClientKeys, openStoredLine, type StoredLine } from '@atrium/sealing/client-sealed'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { isSignedBy, parseJws } from './device-jws.ts'
import { sha256Base64url } from './identity.ts'
import { checkSeen } from './check-page.ts'
import type { SealedToken } from './member-standing.ts'
import type { Card } from './room-device.ts'
import type { Entry } from './space-ops.ts'
import { TamperedRoomError } from './tampered-room-error.ts'
import { isText, type Turn } from './turn.ts'

export const LINE_TYPE = 'atrium-line+jws'

/** A line of an author that was opened. Who the author is, and the signature, are checked in the order of the lines. */
export interface Signed {
  readonly jws: string
  readonly kid: unknown
  readonly payload: Readonly<Record<string, unknown>>
  /** Whether it was signed for this place. */
  readonly isPlaced: boolean
}

/** Opens the line of an author in a room with a list. `hashes`: of all lines. Rejects with TamperedRoomError. */
export async function openSigned(
  keys: ClientKeys,
  line: StoredLine,
  { seq, hashes }: { seq: number; hashes: readonly string[] },
): Promise<Signed> {
  const { seen, content } = await opened(openStoredLine(keys, line), seq)
  checkSeen(seen, seq, hashes)
  const jws = parseJws(content, LINE_TYPE)
  if (!jws) throw new TamperedRoomError('record', seq)
  const { kid, line: signed } = jws.header
  return { jws: content, kid, payload: jws.payload, isPlaced: signed === (await sha256Base64url(line.header)) }
}

/** Rejects with TamperedRoomError unless this key has signed the line for its place. */
export async function checkSignature({ jws, isPlaced }: Signed, key: Card['spk'], seq: number): Promise<void> {
  if (!isPlaced || !(await isSignedBy(jws, key))) throw new TamperedRoomError('signature', seq)
}

/** The message of a device. `name`: of its card. */
export function provenEntry(
  { id, at, text, reply_to: replyTo }: Turn,
  { seq, key, name }: { seq: number; key: string; name: string | undefined },
): Entry {
  return {
    seq,
    id,
    at,
    author: { kind: 'anonymous', ...(name !== undefined && { name }), key, proven: true },
    message: { text, ...(replyTo !== undefined && { reply_to: replyTo }) },
  }
}

/** undefined: it has none of the right form. */
export function readToken({ id_token: token, at }: Readonly<Record<string, unknown>>): SealedToken | undefined {
  return isText(token, MAX_TOKEN_LENGTH) && isTimestamp(at) ? { token, at } : undefined
}

/** Reports what a key does not open. */
export async function opened<T>(work: Promise<T>, seq: number): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DamagedLine) throw new TamperedRoomError('sealed', seq)
    throw error
  }
}

/** Its rejection is reported where it is awaited. */
export function handled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

/** Rejects as the first of them does. Those that have passed are dropped. */
export async function allPassed(checks: Promise<void>[]): Promise<void> {
  for (const check of checks) await check
  checks.length = 0
}
