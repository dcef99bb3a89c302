import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operations, ServedOperationId } from '@atrium/contract/table'
import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '@atrium/contract/operation'
import type { Context } from './context.ts'
import type { Tx } from '#db/database.ts'
import type { Collection } from './collections/collection.ts'
import type { ResolvedKey } from './keys/resolved-key.ts'
import type { HeldSession } from './sessions/session.ts'
import type { Claim } from '#http/idempotency/claim.ts'

/** What the gateway has checked and parsed before a handler runs. */
export interface Call<O extends Operation> {
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  headers: Record<string, string | string[] | undefined>
  /** Of the client. */
  address: string
  /** The caller's tenant. */
  tenant: O['caller'] extends 'secret' | 'publishable' ? string : undefined
  key: O['caller'] extends 'secret' | 'publishable' ? ResolvedKey : undefined
  /** The session whose control token was sent. */
  session: O['caller'] extends 'control' ? HeldSession : undefined
  /** The collection in the path, of the caller's own tenant. */
  collection: O extends { capability: string; caller: 'secret' | 'publishable' } ? Collection : undefined
  /** Whether the caller proved to be its owner. */
  owner: boolean
}

/** Serves an operation that changes nothing, or whose change needs no Idempotency-Key. */
export type Handler<O extends Operation> = (ctx: Context, call: Call<O>) => Promise<AnswerOf<O>>

/** Serves an operation that takes Idempotency-Key: runs in the transaction that keeps the key and the answer. */
export type TxHandler<O extends Operation> = (ctx: Context, tx: Tx, call: Call<O>) => Promise<AnswerOf<O>>

/** Serves one that writes in batches: it hands the claim over to be written together with its effect. */
export type BatchedHandler<O extends Operation> = {
  batched: (ctx: Context, call: Call<O>, claim: Claim<AnswerOf<O>> | undefined) => Promise<AnswerOf<O>>
}

/** Serves one whose answer goes out as it comes: the gateway has checked the request as for all others, and the handler sends. */
export type StreamHandler<O extends Operation> = {
  stream: (ctx: Context, call: Call<O>, req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
}

/** Serves one whose request and answer another service owns: the gateway checks nothing and passes it on. */
export type ForwardHandler = { forward: (ctx: Context, req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> }

type HandlerFor<O extends Operation> = O extends { flatErrors: object }
  ? ForwardHandler
  : O extends { answers: { 206: object } }
    ? StreamHandler<O>
    : O extends { idempotency: string }
      ? TxHandler<O> | BatchedHandler<O>
      : Handler<O>

export type HandlerOf<Id extends ServedOperationId> = HandlerFor<Operations[Id]>

/** A handler for every served operation, and for nothing else. */
export type Handlers = { [Id in ServedOperationId]: HandlerOf<Id> }
