import type { AnswerOf, BodyOf, Operation, OperationKind, ParamsOf, QueryOf } from '@atrium/contract/operation'
import type { Operations, ServedOperationId } from '@atrium/contract/table'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Tx } from '#db/database.ts'
import type { Claim } from '#http/idempotency/claim.ts'
import type { AuditOrigin } from './audit-log/audit-entry.ts'
import type { Collection } from './collections/collection.ts'
import type { Context } from './context.ts'
import type { ResolvedKey } from './keys/key.ts'
import type { HeldSession } from './sessions/session.ts'

/** The input of a handler: the context, and what the gateway has checked and parsed. */
export interface Call<O extends Operation> {
  ctx: Context
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  headers: Record<string, string | string[] | undefined>
  /** The bytes of the body as they were sent, for a signature over them. */
  rawBody: Buffer
  /** What the audit log records of the call; undefined: it records nothing. */
  audit: AuditOrigin | undefined
  /** The client's IP address. */
  address: string
  /** The caller's tenant. */
  tenantId: O['caller'] extends 'secret' | 'publishable' ? string : undefined
  key: O['caller'] extends 'secret' | 'publishable' ? ResolvedKey : undefined
  /** The session whose control token was sent. */
  session: O['caller'] extends 'control' ? HeldSession : undefined
  /** The collection in the path, of the caller's own tenant. */
  collection: O extends { capability: 'owner' | 'optional'; caller: 'secret' | 'publishable' } ? Collection : undefined
  /** For the capability `contributor`, which the handler checks together with its write. */
  access: O extends { capability: 'contributor'; caller: 'secret' | 'publishable' } ? CollectionAccess : undefined
  /** Whether the caller proved to be its owner. */
  owner: boolean
}

/** The caller's access to the collection in the path. */
export interface CollectionAccess {
  /** SHA-256 of X-Collection-Token, empty without one; null: the access does not depend on a token. */
  tokenHash: Buffer | null
  /** Loads the collection. Throws the error of the operation for a caller without access. */
  check: () => Promise<Collection>
}

interface Exchange {
  req: FastifyRequest
  reply: FastifyReply
}

/** A stream outlives the check of its key, so it repeats that check. */
interface StreamExchange<O extends Operation> extends Exchange {
  /** The hash of the key by which it is looked up. */
  keyHash: O['caller'] extends 'secret' | 'publishable' ? string : undefined
  /** Looks the caller up in the database. Throws if a new request of the caller would be refused. */
  assertStillAllowed: () => Promise<void>
}

type ClaimOf<O extends Operation> = O extends { idempotency: 'required' } ? Claim<AnswerOf<O>> : Claim<AnswerOf<O>> | undefined

/** A handler of each kind: `kind` in the contract (operation.ts) says what the kinds are. */
interface HandlerKinds<O extends Operation> {
  read: (call: Call<O>) => Promise<AnswerOf<O>>
  write: (call: Call<O> & { tx: Tx }) => Promise<AnswerOf<O>>
  claimed: (call: Call<O> & { claim: ClaimOf<O> }) => Promise<AnswerOf<O>>
  stream: (call: Call<O> & StreamExchange<O>) => Promise<FastifyReply>
  forward: (exchange: Exchange & { ctx: Context }) => Promise<FastifyReply>
}

export type HandlerOf<Id extends ServedOperationId> = HandlerKinds<Operations[Id]>[Operations[Id]['kind']]

/** A handler for every served operation, and for nothing else. */
export type Handlers = { [Id in ServedOperationId]: HandlerOf<Id> }

/** A handler of any operation, with its kind, which determines how it is called. */
export type AnyHandler = { [Kind in OperationKind]: { kind: Kind; handle: HandlerKinds<Operation>[Kind] } }[OperationKind]
