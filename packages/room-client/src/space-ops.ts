import type {
  SpaceAppendAnswer,
  SpaceAttestAnswer,
  SpaceChanged,
  SpaceEntry,
  SpacePollAnswer,
  SpaceReadAnswer,
  SpaceRequest,
  SpaceSealedAnswer,
  SpaceTurnAnswer,
} from '@atrium/contract/space-schemas'
import type { Static } from 'typebox'

/**
 * One message of a room: `{seq, id, at, author: {kind, id?, name?, email?, key?, proven?}, message: {text, reply_to?,
 * client_id?}}`.
 */
export type Entry = Static<typeof SpaceEntry>
/** `{kind, id?, name?, email?, key?, proven?}`. */
export type Author = Entry['author']
/** `{etag, count, entries, policy, title?}`: etag and count are what the next poll starts from. */
export type RoomPage = Static<typeof SpacePollAnswer>
/** `{ok, seq, id, at, etag, count}`. */
export type SaidEntry = Static<typeof SpaceTurnAnswer>
/** `{alg, bytes, sha256, recipients, sealed}`. */
export type SealedRoom = Static<typeof SpaceSealedAnswer>

interface Answers {
  poll: RoomPage
  turn: SaidEntry
  sealed: SealedRoom
  attest: Static<typeof SpaceAttestAnswer>
  create: Static<typeof SpaceChanged>
  admit: Static<typeof SpaceChanged>
  expel: Static<typeof SpaceChanged>
  rename: Static<typeof SpaceChanged>
  remove: Static<typeof SpaceChanged>
  make: Static<typeof SpaceChanged>
  read: Static<typeof SpaceReadAnswer>
  append: Static<typeof SpaceAppendAnswer>
}

export type SpaceOp = keyof Answers
export type AnswerOf<Op extends SpaceOp> = Answers[Op]

/** JSON omits undefined members. */
type Lenient<T> = { [Name in keyof T]: T[Name] | (Record<never, never> extends Pick<T, Name> ? undefined : never) }

/** The fields of an op without the identity and the signature, which are given separately. */
export type RequestOf<Op extends SpaceOp> = Lenient<
  Omit<Extract<Static<typeof SpaceRequest>, { op: Op }>, 'idToken' | 'spk' | 'proof' | 'signature'>
>
