import { ListFullError, TokenRefusedError } from '@atrium/room-client/listed-types'
import { LineTooLongError } from '@atrium/room-client/seal-line'
import { type TamperProblem, TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { t, type Text } from '../text/text.ts'

export interface Words {
  readonly title: string
  readonly text: string
  /** What the visitor can do: sign in again, or nothing on this page. */
  readonly remedy?: 'sign-in'
}

type Failures = Text['failures']
/** Names of the texts that need no particulars. */
type PlainFailure = { [K in keyof Failures]: Failures[K] extends Words ? K : never }[keyof Failures]

/** Explains a rejection in plain words. `email` is the address that is signed in. */
export function failureWords(failure: unknown, email = t.failures.yourAccount): Words {
  if (failure instanceof TamperedRoomError) return tampered(failure)
  if (failure instanceof ListFullError) return t.sealed.full
  if (failure instanceof TokenRefusedError) return refusal(failure.reason, email)
  if (failure instanceof LineTooLongError) return tooLarge()
  if (!(failure instanceof SpaceCallError) || failure.status < 400) return t.failures.noAnswer
  return failure.status === 403 ? refusal(failure.reason, email) : byError(failure)
}

function tampered({ problem, seq }: TamperedRoomError): Words {
  const { title, line, ...why } = t.failures.tampered
  return { title, text: `${why[TAMPERED[problem]]} ${line(seq, problem)}` }
}

/** The names of the texts for what a reader found wrong. */
const TAMPERED: Readonly<Record<TamperProblem, 'lost' | 'altered' | 'foreign'>> = {
  rewritten: 'lost',
  count: 'lost',
  end: 'lost',
  form: 'altered',
  number: 'altered',
  chain: 'altered',
  ahead: 'altered',
  fork: 'altered',
  replay: 'altered',
  sealed: 'foreign',
  record: 'foreign',
  policy: 'foreign',
  // Only in rooms with a list of devices.
  signature: 'foreign',
  author: 'foreign',
  recipients: 'altered',
  key: 'foreign',
}

function refusal(reason: string, email: string): Words {
  const { failures } = t
  if (reason === 'bad_room_key') return failures.badRoomKey
  if (reason === 'bad_clock') return failures.badClock
  if (reason === 'unproven') return failures.unproven
  // Reasons that the app has for a device, in a client-sealed room with a list.
  if (reason === 'device_removed') return t.sealed.removed
  if (reason === 'device_answered') return t.sealed.answered
  if (reason === 'device_taken_back') return t.sealed.takenBack
  if (reason === 'device_waiting') return t.sealed.waiting
  if (reason === 'not_on_list' || reason === 'revoked') {
    const { title, text } = reason === 'revoked' ? failures.revoked : failures.notOnList
    return { title, text: text(email), remedy: 'sign-in' }
  }
  const name = SIGN_IN_REASONS[reason] ?? (reason.startsWith('token: ') ? 'badToken' : undefined)
  return name === undefined ? failures.ownerOnly : { ...failures[name], remedy: 'sign-in' }
}

/** The names of the texts for rejections that signing in again may resolve. */
const SIGN_IN_REASONS: Readonly<Record<string, PlainFailure>> = {
  unsigned: 'unsigned',
  'token: expired': 'tokenExpired',
  'token: not_yet_valid': 'tokenNotYetValid',
  'token: bad_aud': 'tokenBadAudience',
  'token: bad_issuer': 'tokenBadIssuer',
  'token: bad_signature': 'tokenBadSignature',
  'token: malformed': 'tokenMalformed',
  'token: unverified_email': 'unverifiedEmail',
  nonce_mismatch: 'otherDevice',
}

const MAX_MESSAGE_KB = 16
const MAX_MESSAGES = 100_000

function tooLarge(): Words {
  const { title, text } = t.failures.tooLarge
  return { title, text: text(MAX_MESSAGE_KB, MAX_MESSAGES) }
}

function byError({ error, reason }: SpaceCallError): Words {
  const { failures } = t
  if (error === 'payload_too_large') return tooLarge()
  const name = CONFLICTS[reason] ?? ERRORS[error]
  return name === undefined ? failures.unknown : failures[name]
}

/** The reasons of room_exists for which it does not mean that the name is in use. */
const CONFLICTS: Readonly<Record<string, PlainFailure>> = {
  // The link is for a room of the other kind.
  client_sealed: 'badRoomKey',
  server_sealed: 'badRoomKey',
  list_changed: 'listChanged',
}

const ERRORS: Readonly<Record<string, PlainFailure>> = {
  not_found: 'notFound',
  room_exists: 'roomExists',
  rate_limited: 'rateLimited',
  unavailable: 'unavailable',
  internal_error: 'internal',
  invalid_request: 'invalidRequest',
}
