import { namesOf } from './names-of.ts'
import { errorCodesOf } from './error-codes.ts'
import { errorExample } from './error-example.ts'
import { errors, type ErrorCode } from './errors.ts'
import type { AnswerSpec, FlatErrorSpec, Operation } from './operation.ts'
import { type Json, type JsonObject, type SchemaCollector, jsonOf } from './openapi-schemas.ts'

/** The response headers as shared components. */
export const headerComponents: JsonObject = {
  XRequestId: { description: 'Id of this request. Quote it when you report an error.', schema: { type: 'string' } },
  RateLimit: {
    description: 'What is left of the limits (IETF draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
  },
  RateLimitPolicy: { description: 'The limits that apply (same draft).', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 0 } },
  IdempotencyStatus: {
    description: 'With Idempotency-Key: stored on the first answer, replayed on a repeat.',
    schema: { type: 'string', enum: ['stored', 'replayed'] },
  },
  IdempotencyExpires: {
    description: 'With Idempotency-Key: until when a repeat replays this answer.',
    schema: { type: 'string', format: 'date-time' },
  },
  CacheControlNoStore: {
    description: 'The response contains a secret and must not be cached.',
    schema: { type: 'string', const: 'no-store' },
  },
  CacheControlPublic: {
    description: 'How long shared caches may keep the response, which is the same for every caller.',
    schema: { type: 'string', pattern: '^public, max-age=\\d+$' },
  },
}

function header(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` }
}

const everyHeader = { 'X-Request-Id': header('XRequestId') }
const limitHeaders = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimitPolicy') }

/** The success responses of an operation, by status. */
export function answersOf(op: Operation, schemas: SchemaCollector): JsonObject {
  const answers = Object.entries(op.answers).map(([status, answer]) => ({ status: Number(status), answer }))
  const exampleStatus = Math.max(...answers.flatMap(({ status, answer }) => (answer.data ? [status] : [])))
  return Object.fromEntries(
    answers.map(({ status, answer }) => {
      const example = status === exampleStatus ? op.example?.data : undefined
      return [
        String(status),
        {
          description: answer.description,
          headers: {
            ...everyHeader,
            ...limitHeaders,
            ...(op.idempotency
              ? { 'Idempotency-Status': header('IdempotencyStatus'), 'Idempotency-Expires': header('IdempotencyExpires') }
              : {}),
            ...(answer.oneTimeSecret ? { 'Cache-Control': header('CacheControlNoStore') } : {}),
            ...(answer.maxAgeSeconds ? { 'Cache-Control': header('CacheControlPublic') } : {}),
          },
          ...(answer.data ? { content: contentOf(answer, schemas.emit(answer.data), schemas, example) } : {}),
        },
      ]
    }),
  )
}

function contentOf(answer: AnswerSpec, data: Json, schemas: SchemaCollector, said: unknown): JsonObject {
  const example = jsonOf(said)
  if (answer.raw) return { [answer.raw]: { schema: data, ...(example === undefined ? {} : { example }) } }
  const schema: JsonObject = {
    type: 'object',
    required: ['data'],
    properties: { data, ...(answer.paged || answer.warns ? { meta: schemas.ref('ResponseMeta') } : {}) },
  }
  if (example === undefined) return { 'application/json': { schema } }
  return {
    'application/json': { schema, example: { data: example, ...(answer.paged ? { meta: { next_cursor: 'eyJ2…' } } : {}) } },
  }
}

/** Returns the URL of the documentation page of a code. */
export type ErrorPage = (code: ErrorCode) => string

/** Collects the error responses of a document. Operations with the same codes share one response. */
export interface ErrorCollector {
  /** The error responses of an operation, by status. */
  errorsOf: (op: Operation) => JsonObject
  /** components.responses. */
  collected: () => JsonObject
}

/** Creates a collector for one document. */
export function collectErrors(schemas: SchemaCollector, errorPage: ErrorPage): ErrorCollector {
  const used = new Map<string, Json>()

  function shared(status: number, codes: ErrorCode[]): Json {
    const name = `Error${status}.${codes.join('.')}`
    if (!used.has(name)) {
      used.set(name, {
        description: codes.map((code) => `- [\`${code}\`](${errorPage(code)}): ${errors[code].title}.`).join('\n'),
        headers: errorHeaders(status, codes),
        content: {
          'application/json': {
            schema: schemas.ref('Error'),
            examples: Object.fromEntries(
              codes.map((code) => [code, { summary: errors[code].title, value: jsonOf(errorExample(code)) ?? null }]),
            ),
          },
        },
      })
    }
    return { $ref: `#/components/responses/${name}` }
  }

  return {
    errorsOf: (op) => {
      if (op.flatErrors) {
        // These two occur before the operation is known, so they always have the common form.
        const unread = [...byStatus(['request_timeout', 'headers_too_large'])].map(([status, codes]) => [
          status,
          shared(status, codes),
        ])
        return { ...flatErrorsOf(op.flatErrors, schemas), ...Object.fromEntries(unread) }
      }
      const isPage = Object.values(op.answers).some((answer) => answer.raw === 'text/html')
      return Object.fromEntries(
        [...byStatus(errorCodesOf(op))].map(([status, codes]) => [
          String(status),
          isPage && status === 404 ? notFoundPage : shared(status, codes),
        ]),
      )
    },
    collected: () => Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The codes in the order of the error table, grouped by status. */
function byStatus(codes: ErrorCode[]): Map<number, ErrorCode[]> {
  const order = namesOf(errors)
  return Map.groupBy(
    order.filter((code) => codes.includes(code)),
    (code) => errors[code].status,
  )
}

function errorHeaders(status: number, codes: readonly ErrorCode[]): JsonObject {
  const retry = status === 429 || status === 503 || codes.includes('idempotency_in_progress')
  return { ...everyHeader, ...(status === 429 ? limitHeaders : {}), ...(retry ? { 'Retry-After': header('RetryAfter') } : {}) }
}

const notFoundPage: JsonObject = {
  description: 'Not found, as an HTML page.',
  headers: everyHeader,
  content: { 'text/html': { schema: { type: 'string' } } },
}

function flatErrorsOf(specs: Record<number, FlatErrorSpec>, schemas: SchemaCollector): JsonObject {
  return Object.fromEntries(
    Object.entries(specs).map(([status, { description, error, reasons }]) => [
      status,
      {
        description,
        headers: errorHeaders(Number(status), []),
        content: {
          'application/json': {
            schema: schemas.ref('FlatError'),
            examples: Object.fromEntries(
              (reasons ?? ['']).map((reason) => [
                (reason || error).replace(/[^a-z_]+/g, '_'),
                { value: { error, ...(reason ? { reason } : {}) } },
              ]),
            ),
          },
        },
      },
    ]),
  )
}
