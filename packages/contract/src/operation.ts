import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

/** live: served under /v1. legacy: served un-versioned at the root, 404 under /v1. proposed: not built. */
export type OperationStatus = 'live' | 'legacy' | 'proposed'

/**
 * Who may call.
 * secret: a secret key. publishable: a publishable or a secret key. operator: X-Admin-Token.
 * control: a session's control token. anyone: no credential.
 */
export type Caller = 'secret' | 'publishable' | 'operator' | 'control' | 'anyone'

/**
 * What X-Collection-Token must prove about the collection in the path.
 * owner: the admin token. contributor: the contributor or admin token where its policy asks for one. optional: an admin token shows more.
 */
export type Capability = 'owner' | 'contributor' | 'optional'

/**
 * How the gateway calls the handler.
 * read: without a transaction. The handler reads, or commits by itself what it changes.
 * write: in a transaction, which also keeps the Idempotency-Key and the answer where the operation takes a key.
 * claimed: the handler is given the claim on the Idempotency-Key, and commits it together with its effect, in a batch or after it asked others.
 * stream: the handler sends the answer itself, as it is made.
 * forward: another service owns request and answer; the gateway checks nothing.
 */
export type OperationKind = 'read' | 'write' | 'claimed' | 'stream' | 'forward'

export interface AnswerSpec {
  description: string
  /** The payload under `data`; absent: no body (204). */
  data?: TSchema
  /** Carries meta.next_cursor. */
  paged?: true
  /** Holds a secret that is shown once: sent with Cache-Control: no-store. */
  oneTimeSecret?: true
  /** The same for everyone: caches may keep it for this long. */
  maxAgeSeconds?: number
  /** Served as it is, without the envelope. */
  raw?: 'text/html' | 'application/json' | '*/*'
}

/** What a flat error of one status may say: `{error, reason}` without the envelope. */
export interface FlatErrorSpec {
  description: string
  error: string
  /** What `reason` may be, as far as it can be listed. */
  reasons?: readonly string[]
}

/** One operation of the API, said once: routes, documents, client types, gateway checks and the security tests are read off it. */
export interface Operation {
  /** Key in the table, the OpenAPI operationId and the client's method name. */
  id: string
  kind: OperationKind
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With {name} for parameters, without the version prefix. */
  path: string
  status: OperationStatus
  /** What a proposed operation will be once it is built: says where it is going to be routed. */
  becomes?: 'live' | 'legacy'
  /** Left out of the published document (operator calls). */
  unpublished?: true
  tag: string
  summary: string
  description: string
  caller: Caller
  /** Where no header says who calls: the field of the body that does. What one caller's Idempotency-Key names is not another's. */
  credentialField?: string
  capability?: Capability
  /** Answers 403 issuer_role_required to tenants without the issuer role. */
  role?: 'issuer'
  /** Whether Idempotency-Key is taken; a key's row, the effect and the stored answer commit together. */
  idempotency?: 'accepted' | 'required'
  /** It may end the very key that calls, and show what takes its place: a repeat with that key is still given the kept answer for a while. */
  endsCaller?: true
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TSchema
  answers: Record<number, AnswerSpec>
  /** Codes besides those that follow from the rest (see error-codes.ts). */
  errors?: readonly ErrorCode[]
  /** Given: errors are `{error, reason}` with these statuses, and no code of errors.ts is answered. */
  flatErrors?: Record<number, FlatErrorSpec>
  /** A request body and the payload it yields. */
  example?: { body?: unknown; data?: unknown }
}

/** Checks the declaration and keeps its exact type. */
export function operation<const O extends Operation>(declaration: O): O {
  return declaration
}

export type ParamsOf<O extends Operation> = O['params'] extends TSchema ? Static<O['params']> : Record<never, never>
export type QueryOf<O extends Operation> = O['query'] extends TSchema ? Static<O['query']> : Record<never, never>
export type HeadersOf<O extends Operation> = O['headers'] extends TSchema ? Static<O['headers']> : Record<never, never>
export type BodyOf<O extends Operation> = O['body'] extends TSchema ? Static<O['body']> : undefined
type DataOf<A extends AnswerSpec> = A['data'] extends TSchema ? Static<A['data']> : undefined

/** The payloads of an operation's answers, as a union over its statuses. */
export type AnswerOf<O extends Operation> = {
  [S in keyof O['answers'] & number]: O['answers'][S] extends { raw: string }
    ? { status: S; data: DataOf<O['answers'][S]>; headers?: Record<string, string>; etag?: boolean }
    : O['answers'][S] extends { data: TSchema }
      ? { status: S; data: DataOf<O['answers'][S]>; nextCursor?: string | undefined }
      : { status: S }
}[keyof O['answers'] & number]
