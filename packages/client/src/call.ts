import type { AnswerOf, BodyOf, HeadersOf, Operation, ParamsOf, QueryOf, Warning } from '@atrium/contract/operation'
import type { Operations, ServedOperationId } from '@atrium/contract/table'

/** A member that is optional if nothing in it is required. */
type Member<Name extends string, T> = Record<never, never> extends T ? { [N in Name]?: T | undefined } : { [N in Name]: T }
type Nothing = Record<never, never>

/** Absent where it is optional: the same as `{}`. */
type BodyMember<O extends Operation> = O extends { body: object }
  ? O extends { bodyOptional: true }
    ? { body?: BodyOf<O> | undefined }
    : { body: BodyOf<O> }
  : Nothing
type QueryMember<O extends Operation> = O extends { query: object } ? Member<'query', QueryOf<O>> : Nothing
type HeadersMember<O extends Operation> = O extends { headers: object } ? Member<'headers', HeadersOf<O>> : Nothing
type TokenMember<O extends Operation> = O extends { capability: 'owner' }
  ? { collectionToken: string }
  : O extends { capability: string }
    ? { collectionToken?: string | undefined }
    : Nothing
/** Absent: the `controlToken` of the client. */
type ControlMember<O extends Operation> = O extends { caller: 'control' } ? { controlToken?: string | undefined } : Nothing
/**
 * 1 to 255 printable ASCII characters. Absent: a new random one. To repeat a call safely after a crash, store a key
 * and pass it here.
 */
type IdempotencyMember<O extends Operation> = O extends { idempotency: string }
  ? { idempotencyKey?: string | undefined }
  : Nothing

/** The input of one call: the path parameters by name, and the other members that the operation declares. */
export type InputOf<O extends Operation> = ParamsOf<O> &
  QueryMember<O> &
  BodyMember<O> &
  HeadersMember<O> &
  TokenMember<O> &
  ControlMember<O> &
  IdempotencyMember<O> & {
    /**
     * Whether to retry when no response arrived or the server was unavailable. Default: true for a GET, a PUT, and a
     * POST or PATCH with an Idempotency-Key.
     */
    repeatable?: boolean | undefined
    signal?: AbortSignal | undefined
  }

/** The result of a call. `status` discriminates the answers of an operation. */
export type ResultOf<O extends Operation> = AnswerOf<O> & { headers: Headers }

export type Call<O extends Operation> = (
  ...args: Record<never, never> extends InputOf<O> ? [input?: InputOf<O>] : [input: InputOf<O>]
) => Promise<ResultOf<O>>

/** A method for each served operation, named after its id. */
export type AtriumClient = { readonly [Id in ServedOperationId]: Call<Operations[Id]> }

/** What a call answers under `data`: `DataOf<'getItem'>` is an item. */
export type DataOf<Id extends ServedOperationId> = Extract<Awaited<ReturnType<AtriumClient[Id]>>, { data: unknown }>['data']

/** What a call takes as `body`: `BodyFor<'addItem'>` is an item to add. */
export type BodyFor<Id extends ServedOperationId> = Operations[Id] extends infer O extends Operation
  ? O extends { body: object }
    ? BodyOf<O>
    : never
  : never

/** The same input without its exact types, for the implementation. */
export interface AnyInput {
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, unknown>
  collectionToken?: string
  controlToken?: string
  idempotencyKey?: string
  repeatable?: boolean
  signal?: AbortSignal
  [param: string]: unknown
}

export interface AnyResult {
  status: number
  data?: unknown
  nextCursor?: string
  warnings?: Warning[]
  headers: Headers
}
