import type { Static, TProperties, TSchema, TString } from 'typebox'
import { Type } from './type.ts'
import { limits } from './limits.ts'
import { defaultEndpoint, idPrefixes, idSchemaPattern, type IdKind } from './tokens.ts'

/** A request body that rejects undeclared fields, so that a misspelt field is an error. */
export function closed<P extends TProperties>(properties: P, options: { minProperties?: number; description?: string } = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false })
}

const idKind = Symbol('kind of id')

/** The schema of an id of this kind. */
export function id(kind: IdKind, description?: string): TString {
  const schema = Type.String({ pattern: idSchemaPattern(kind), ...(description ? { description } : {}) })
  // A symbol, so that JSON documents omit it.
  return Object.assign(schema, { [idKind]: kind })
}

/** The id of a webhook endpoint, or `default`. */
export function endpointId(description: string) {
  return Type.String({ pattern: `^(${defaultEndpoint}|${idPrefixes.webhookEndpoint}[0-9A-Za-z]{22})$`, description })
}

/** The kind of a schema that `id` made; undefined for any other schema. */
export function idKindOf(schema: object): IdKind | undefined {
  return (schema as { [idKind]?: IdKind })[idKind]
}

export function oneOf<const V extends [string, ...string[]]>(
  values: V,
  options: { description?: string; default?: string; 'x-status'?: 'live' } = {},
) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: values, ...options })
}

/**
 * The schema, or null. A type list instead of a union, because compiled serialisers are several times faster with it.
 */
export function nullable<T extends TSchema>(schema: T) {
  const type = 'type' in schema ? schema.type : 'object'
  const values: unknown[] | undefined = 'enum' in schema && Array.isArray(schema.enum) ? schema.enum : undefined
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'], ...(values ? { enum: [...values, null] } : {}) })
}

export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds.' })

/** An object whose fields only the app interprets. */
export function opaqueObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })
}

export function anyJson(description: string) {
  return Type.Unsafe<unknown>({ description })
}

export const EmailAddress = Type.String({ format: 'email', maxLength: 254 })

/** 32 bytes in base64url. */
const coordinate = '^[A-Za-z0-9_-]{43}$'

export const PublicJwk = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  required: ['kty', 'crv', 'x'],
  properties: {
    kty: { type: 'string', enum: ['EC', 'OKP'] },
    crv: { type: 'string', enum: ['P-256', 'X25519'] },
    x: { type: 'string', pattern: coordinate },
    y: { type: 'string', pattern: coordinate },
    kid: { type: 'string', maxLength: 200 },
    use: { type: 'string', maxLength: 20 },
    alg: { type: 'string', maxLength: 40 },
    ext: { type: 'boolean' },
    key_ops: { type: 'array', items: { type: 'string', maxLength: 20 }, maxItems: 10 },
  },
  additionalProperties: false,
  description: 'A public JWK (RFC 7517): EC P-256 or OKP X25519, without its private part.',
})

/** Whole credits. */
export function credits(options: { minimum?: number; description?: string } = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Whole credits.', ...options })
}

/** A credential in a body. The schema checks only its length; prefix and checksum are checked before any look-up. */
export function credential(description: string) {
  return Type.String({ minLength: 1, maxLength: 100, description })
}

/** PostgreSQL does not store NUL in text, so no text with NUL can be found. */
export const noNul = '^[^\\u0000]*$'

/** The query parameters of a paged list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.pageMax,
      default: limits.pageDefault,
      description: 'The largest number of entries. A page of large entries ends earlier, with a next_cursor.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'meta.next_cursor of the previous page, unchanged.' }),
  ),
}

/** The query parameters of a list that is limited to a time. */
export const createdWithin = {
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Created at this time or later.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Created before this time.' })),
}

export const PageQuery = closed(pageQuery)

export const GenericOk = Type.Object({ ok: Type.Unsafe<true>({ type: 'boolean', const: true }) })
