import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { MemberRole } from './roles.ts'

/** live: served under /v1. legacy: served without a version at the API origin, 404 under /v1. proposed: not built. */
type OperationStatus = 'live' | 'legacy' | 'proposed'

/**
 * Who may call.
 * secret: a secret key. publishable: a publishable or a secret key. operator: X-Admin-Token.
 * control: a session's control token. anyone: no credential.
 */
export type Caller = 'secret' | 'publishable' | 'operator' | 'control' | 'anyone'

/**
 * The collection token that X-Collection-Token must contain for the collection in the path.
 * owner: the admin token. contributor: the contributor or admin token, if the collection's policy requires one.
 * optional: without a token the answer contains less than with the admin token.
 */
export type Capability = 'owner' | 'contributor' | 'optional'

/**
 * How the gateway calls the handler.
 * read: without a transaction. The handler reads, or commits its own changes.
 * write: in a transaction, which also stores the Idempotency-Key and the answer if the operation accepts a key.
 * claimed: the handler receives the claim on the Idempotency-Key and commits it together with its effect, for example
 * in a batch, or after a call to another service.
 * stream: the handler writes the response itself, piece by piece.
 * forward: the request is proxied to another service; the gateway validates nothing.
 */
export type OperationKind = 'read' | 'write' | 'claimed' | 'stream' | 'forward'

/** One place of a body (a JSON Pointer), and what looks wrong with it. */
export interface Warning {
  path: string
  message: string
}

export interface AnswerSpec {
  description: string
  /** The schema of `data`. Absent: no body (204). */
  data?: TSchema
  /** The answer may contain meta.next_cursor. */
  paged?: true
  /** The answer may contain meta.warnings: accepted input that looks like a mistake. */
  warns?: true
  /** The answer contains a secret that is returned once, and is sent with Cache-Control: no-store. */
  oneTimeSecret?: true
  /** The answer is the same for every caller; shared caches may keep it for this many seconds. */
  maxAgeSeconds?: number
  /** The content type of a body without the envelope. */
  raw?: 'text/html' | 'application/json' | 'text/event-stream' | 'application/x-ndjson' | '*/*'
}

/** A flat error of one status: `{error, reason}` without the envelope. */
export interface FlatErrorSpec {
  description: string
  error: string
  /** The possible values of `reason`, as far as they can be listed. */
  reasons?: readonly string[]
}

/** One operation of the API. Routes, documents, client types, gateway checks and the security tests derive from it. */
export interface Operation {
  /** The key in the table, the OpenAPI operationId and the method name of the client. */
  id: string
  kind: OperationKind
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path without the version prefix, with parameters as {name}. */
  path: string
  status: OperationStatus
  /** The status that a proposed operation will have once it is built. */
  becomes?: 'live' | 'legacy'
  /** Left out of the published document (operator calls). */
  unpublished?: true
  tag: string
  summary: string
  description: string
  caller: Caller
  /**
   * The body field that identifies the caller of an operation without a credential header. It scopes the
   * Idempotency-Key.
   */
  credentialField?: string
  capability?: Capability
  /**
   * The members of the tenant who may call by a session of the console, by their role; absent: none. Such a call has
   * the rights of the secret key and, for the collection in the path, of its owner. Operators' sessions may call what
   * operators may.
   */
  roles?: readonly MemberRole[]
  /** Only a session of the console may call, and no key. */
  sessionOnly?: true
  /** Answers 403 issuer_role_required to tenants without the issuer role. */
  role?: 'issuer'
  /** Whether Idempotency-Key is accepted. The claim, the effect and the stored answer commit together. */
  idempotency?: 'accepted' | 'required'
  /**
   * The call may expire its own key and return the replacement. A retry with the expired key still gets the stored
   * answer for a while.
   */
  endsCaller?: true
  /**
   * The call is recorded in the audit log. Calls of operators that change something are, without this.
   */
  audited?: true
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TSchema
  /** No body is the same as `{}`. Not for operations whose defaults a caller must mean, such as a deletion. */
  bodyOptional?: true
  answers: Record<number, AnswerSpec>
  /** Error codes besides those that the declaration implies (see error-codes.ts). */
  errors?: readonly ErrorCode[]
  /** If present, errors are `{error, reason}` with these statuses instead of the codes of errors.ts. */
  flatErrors?: Record<number, FlatErrorSpec>
  /** An example of a request body and of the `data` of its answer. */
  example?: { body?: unknown; data?: unknown }
}

/** Checks the declaration and keeps its exact type. */
export function operation<const O extends Operation>(declaration: O): O {
  return declaration
}

/**
 * Whether a session of the console is a credential for the operation. Its role may still not be allowed: see
 * `Operation.roles`.
 */
export function takesConsoleSessions({ caller }: Pick<Operation, 'caller'>): boolean {
  return caller === 'secret' || caller === 'publishable' || caller === 'operator'
}

/** Whether a call leaves an entry in the audit log. */
export function isAudited({ audited, caller, method }: Operation): boolean {
  return audited ?? (caller === 'operator' && method !== 'GET')
}

export type ParamsOf<O extends Operation> = O['params'] extends TSchema ? Static<O['params']> : Record<never, never>
export type QueryOf<O extends Operation> = O['query'] extends TSchema ? Static<O['query']> : Record<never, never>
export type HeadersOf<O extends Operation> = O['headers'] extends TSchema ? Static<O['headers']> : Record<never, never>
export type BodyOf<O extends Operation> = O['body'] extends TSchema ? Static<O['body']> : undefined
type DataOf<A extends AnswerSpec> = A['data'] extends TSchema ? Static<A['data']> : undefined

/** The payloads of an operation's answers, as a union over its statuses. */
export type AnswerOf<O extends Operation> = {
  [S in keyof O['answers'] & number]: O['answers'][S] extends { raw: string }
    ? { status: S; data: DataOf<O['answers'][S]>; headers?: Record<string, string>; etag?: boolean | string }
    : O['answers'][S] extends { data: TSchema }
      ? { status: S; data: DataOf<O['answers'][S]>; nextCursor?: string | undefined; warnings?: Warning[] }
      : { status: S }
}[keyof O['answers'] & number]
