import type { AnyInput, AnyResult } from '@atrium/client/call'
import { limits } from '@atrium/contract/limits'
import type { Operation } from '@atrium/contract/operation'
import type { JsonObject } from '@atrium/contract/strict-json'
import type { TObject, TProperties, TSchema } from 'typebox'
import { Type } from '@atrium/contract/type'
import type { Connection } from './connection.ts'
import { redact } from './redact.ts'
import { ToolError, type Tool } from './tool.ts'
import { label, labelledSchema } from './untrusted.ts'

/** Entries per page: fewer than the API allows, because a model reads all of them. */
const pageMax = 50
const pageDefault = 20
/** The longest text, in characters, in a list and in an answer about one object. */
const listChars = 4_096
const singleChars = 16_384

interface Spec {
  operation: Operation
  name: string
  title: string
  description: string
  hints: Tool['hints']
  needs?: Tool['needs']
  /**
   * The fields of the body or query that the tool accepts, as the contract declares them. Default: all of the query.
   */
  fields?: readonly string[]
  /** Additional fields of the tool, or fields with other rules than the contract's. */
  ownFields?: TProperties
  /** Makes the request from the arguments, if it differs from their fields. */
  input?: (args: JsonObject, connection: Connection) => Pick<AnyInput, 'body' | 'controlToken'>
  /** The fields of the answer that the tool returns. Required where the answer contains a one-time secret. */
  pick?: readonly string[]
  /** Stores the one-time secret of the answer. */
  keep?: (data: JsonObject, connection: Connection) => void
  /** Fields that are added to the answer. */
  added?: { schema: JsonObject; of: (data: JsonObject, connection: Connection) => JsonObject }
}

const idempotencyKey = Type.Optional(
  Type.String({
    pattern: `^[ -~]{1,${limits.idempotencyKeyLength}}$`,
    description: 'Repeat a call with the value of the first attempt, and it takes effect once. Absent: a new random value.',
  }),
)

/** A tool that makes one call of the API. Its schemas are those of the operation. */
export function operationTool(spec: Spec): Tool {
  const { operation } = spec
  const [answer] = Object.values(operation.answers)
  const dataSchema = answerSchema(operation)
  if (Object.values(operation.answers).some((one) => one.oneTimeSecret) && !spec.pick)
    throw new Error(`${operation.id} answers a one-time secret: ${spec.name} must name the fields that it returns`)
  const isList = dataSchema['type'] === 'array' || answer?.paged === true
  const maxChars = isList ? listChars : singleChars
  const params = Object.entries(operation.params?.properties ?? {})
  const fields = fieldsOf(spec)
  const data = labelledSchema(dataSchema, spec.pick)
  if (spec.added) Object.assign(data['properties'] as object, spec.added.schema)

  return {
    name: spec.name,
    title: spec.title,
    description: spec.description,
    hints: spec.hints,
    needs: { ...(operation.caller === 'secret' ? { secretKey: true } : {}), ...spec.needs },
    input: Type.Object(
      {
        ...Object.fromEntries(params.map(([name, schema]) => [argumentOf(operation, name), schema])),
        ...fields.query,
        ...fields.body,
        ...spec.ownFields,
        ...(operation.idempotency ? { idempotency_key: idempotencyKey } : {}),
      },
      { additionalProperties: false },
    ),
    output: {
      type: 'object',
      properties: {
        data,
        ...(answer?.paged ? { next_cursor: { type: 'string', description: 'Pass it as cursor to go on.' } } : {}),
      },
      required: ['data'],
      additionalProperties: false,
    },
    run: async (args, connection, signal) => {
      const ids = Object.fromEntries(params.map(([name]) => [name, args[argumentOf(operation, name)]]))
      const query = only(args, Object.keys(fields.query))
      if ('limit' in fields.query) query['limit'] ??= pageDefault
      const own = spec.input?.(args, connection)
      const body = own?.body ?? (Object.keys(fields.body).length > 0 ? only(args, Object.keys(fields.body)) : undefined)
      const token = operation.capability && tokenFor(connection, String(ids['id']))
      const call = connection.client[operation.id as keyof typeof connection.client] as (input: AnyInput) => Promise<AnyResult>
      const result = await call({
        ...ids,
        query,
        ...(operation.body ? { body } : {}),
        ...(token ? { collectionToken: token } : {}),
        ...(own?.controlToken ? { controlToken: own.controlToken } : {}),
        ...(typeof args['idempotency_key'] === 'string' ? { idempotencyKey: args['idempotency_key'] } : {}),
        signal,
      })
      const got = result.data as JsonObject
      spec.keep?.(got, connection)
      const shown = label(dataSchema, redact(got), maxChars, spec.pick) as JsonObject
      return {
        data: spec.added ? { ...shown, ...spec.added.of(got, connection) } : shown,
        ...(result.nextCursor ? { next_cursor: result.nextCursor } : {}),
      }
    },
  }
}

/** The owner token of this collection: from the call that created it, or from the configuration. */
function tokenFor({ kept, collectionToken }: Connection, id: string): string | undefined {
  return kept?.collections.get(id) ?? collectionToken
}

/** One schema for the data of all answers: the fields of each, required if all answers require them. */
function answerSchema(operation: Operation): JsonObject {
  const schemas = Object.values(operation.answers).flatMap(({ data }) => (data ? alternatives(data) : []))
  const [first, ...others] = schemas.map((schema) => JSON.parse(JSON.stringify(schema)) as JsonObject)
  if (!first) throw new Error(`${operation.id} has no answer to return`)
  return others.reduce<JsonObject>(
    (merged, other) => ({
      type: 'object',
      // If several answers have a field, the first declaration is used, because it allows the most values: the status
      // of a pending launch has only one.
      properties: { ...(other['properties'] as object), ...(merged['properties'] as object) },
      required: (merged['required'] as string[]).filter((name) => (other['required'] as string[]).includes(name)),
    }),
    first,
  )
}

function alternatives(schema: TSchema): TSchema[] {
  return 'anyOf' in schema && Array.isArray(schema.anyOf) ? (schema.anyOf as TSchema[]) : [schema]
}

function fieldsOf({ operation, fields, ownFields, input }: Spec): { query: TProperties; body: TProperties } {
  const wanted = ([name]: [string, TSchema]) => fields?.includes(name) ?? true
  const own = Object.keys(ownFields ?? {})
  const query = Object.entries(operation.query?.properties ?? {})
    .filter(wanted)
    .map(([name, schema]) => [name, name === 'limit' ? pageLimit : schema])
  const bodySchema = operation.body as TObject | undefined
  const body = input ? [] : Object.entries(bodySchema?.properties ?? {}).filter(wanted)
  const left = body.filter(([name]) => !own.includes(name))
  return { query: Object.fromEntries(query), body: Object.fromEntries(left) }
}

const pageLimit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: pageMax, default: pageDefault, description: 'The largest number of entries.' }),
)

/** `id` alone does not say which kind of object it identifies. */
function argumentOf({ path }: Operation, name: string): string {
  if (name === 'id') return path.startsWith('/sessions') ? 'session_id' : 'collection_id'
  return name.replace(/Id$/, '_id')
}

function only(args: JsonObject, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]))
}

/** The coupon of the configuration. A model never sees it. */
export function couponOf({ coupon }: Connection): string {
  if (coupon === undefined)
    throw new ToolError('No coupon is configured: set ATRIUM_COUPON for `atrium mcp` (stdio). /mcp takes none.')
  return coupon
}
