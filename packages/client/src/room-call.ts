import type {
  SpaceEntry,
  SpacePollAnswer,
  SpaceRequest,
  SpaceSealedAnswer,
  SpaceTurnAnswer,
} from '@atrium/contract/space-schemas'
import type { ProvableRequest } from '@atrium/sealing/proof'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { Static } from 'typebox'
import type { DeviceKey, DevicePublicKey } from './device-key.ts'
import { withRetries, type Wait } from './retry.ts'
import { proofOf } from './room-proof.ts'
import { jsonOf, send, type Transport } from './send.ts'

/** One message of a room: `{seq, id, at, author: {kind, id?, name?, email?, key?, proven?}, message: {text, reply_to?, client_id?}}`. */
export type Entry = Static<typeof SpaceEntry>
/** `{etag, count, entries, policy, title?}`: etag and count are what the next poll starts from. */
export type RoomPage = Static<typeof SpacePollAnswer>
/** `{ok, seq, id, at, etag, count}`. */
export type SaidEntry = Static<typeof SpaceTurnAnswer>
/** `{alg, bytes, sha256, recipients, sealed}`. */
export type SealedRoom = Static<typeof SpaceSealedAnswer>

/** Who one is in a room. Rooms with a list need idToken and spk; open ones neither. */
export interface RoomIdentity {
  /** An ID token whose nonce is the thumbprint of spk, issued in the last twelve hours. */
  idToken?: string | undefined
  spk: DevicePublicKey
  /** Of the device key: then every call bears a proof that one holds it, and what one says is marked as proven. */
  sign?: DeviceKey['sign'] | undefined
}

/** What all calls to one room have in common. */
export interface RoomAccess extends RoomSecret {
  spaceUrl: string
  /** Asked for each call, so that a token can be renewed. */
  identity: () => RoomIdentity | undefined | Promise<RoomIdentity | undefined>
  transport: Transport
  wait: Wait
}

interface Answers {
  poll: RoomPage
  turn: SaidEntry
  sealed: SealedRoom
}

type RequestOf<Op> = Omit<Extract<Static<typeof SpaceRequest>, { op: Op }>, 'op' | 'room' | 'mk' | 'idToken' | 'spk' | 'proof'>
/** JSON leaves out what is undefined. */
type FieldsOf<Op> = { [Name in keyof RequestOf<Op>]: RequestOf<Op>[Name] | undefined }

interface CallOptions {
  retries: number
  /** How much longer than usual an answer may take: it is held, or large. */
  extraMs?: number
  signal: AbortSignal | undefined
}

/** One request to the Space endpoint. All ops here may happen twice without harm: a turn bears a client_id. */
export async function callRoom<Op extends keyof Answers>(
  access: RoomAccess,
  op: Op,
  fields: FieldsOf<Op>,
  { retries, extraMs = 0, signal }: CallOptions,
): Promise<Answers[Op]> {
  const { fetch, timeoutMs } = access.transport
  const attempt = async () => {
    // The key opens the stored bytes: whoever asks for those has no need to send it.
    const shown =
      op === 'sealed' ? {} : { mk: access.mk, ...(await identityFields(access, { op, room: access.room, ...fields })) }
    const body = JSON.stringify({ op, room: access.room, ...shown, ...fields })
    const headers = { 'content-type': 'application/json' }
    const request = { url: access.spaceUrl, method: 'POST', headers, body }
    return jsonOf(await send(request, { fetch, timeoutMs: timeoutMs + extraMs }, signal)) as Answers[Op]
  }
  return withRetries(attempt, { retries, repeatable: true, signal, wait: access.wait })
}

/** A proof is made for each try: it is good for five minutes only. */
async function identityFields(access: RoomAccess, request: ProvableRequest) {
  const identity = await access.identity()
  if (!identity) return {}
  const { idToken, spk, sign } = identity
  const proof = sign && (await proofOf(request, sign))
  return { idToken, spk, proof }
}
