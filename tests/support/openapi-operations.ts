import { Compile } from 'typebox/schema'
import type { AnswerData } from './call-api.ts'

export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  minProperties?: number
  items?: JsonSchema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: JsonSchema
}

interface DocumentedAnswer {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema: JsonSchema; examples?: Record<string, unknown> }>
}

interface DocumentedOperation {
  operationId: string
  'x-status': string
  security?: Record<string, unknown>[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } }
  responses: Record<string, DocumentedAnswer | { $ref: string }>
}

interface Document {
  security: Record<string, unknown>[]
  paths: Record<string, Record<string, unknown>>
  components: Record<string, Record<string, unknown>>
}

/** An operation as a reader of the OpenAPI document sees it. */
export interface DescribedOperation {
  id: string
  method: string
  /** With the version where it has one. */
  path: string
  /** Names of the schemes, any one of which gives access; none: the operation is open. */
  schemes: string[]
  parameters: Parameter[]
  body: JsonSchema | undefined
  /** The first difference between an answer and its declaration; undefined: there is none. */
  faultIn: (answer: { status: number; headers: Record<string, unknown>; text: string; data: AnswerData }) => string | undefined
}

/** The served operations of the document. */
export async function fetchOperations(origin: string): Promise<DescribedOperation[]> {
  const document = (await (await fetch(`${origin}/v1/openapi.full.json`)).json()) as Document
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, op]) => ['live', 'legacy'].includes((op as DocumentedOperation)['x-status']))
      .map(([method, op]) => describe(document, method, path, op as DocumentedOperation)),
  )
}

function describe(document: Document, method: string, path: string, op: DocumentedOperation): DescribedOperation {
  const security = op.security ?? document.security
  const answers = Object.fromEntries(
    Object.entries(op.responses).map(([status, answer]) => [status, faultFinder(document, answer)]),
  )
  return {
    id: op.operationId,
    method: method.toUpperCase(),
    path,
    schemes: [...new Set(security.flatMap((requirement) => Object.keys(requirement)))],
    parameters: (op.parameters ?? []).map((one) => inlined(document, one) as Parameter),
    body: op.requestBody && (inlined(document, op.requestBody.content['application/json'].schema) as JsonSchema),
    faultIn: (answer) => {
      if (answer.status >= 500) return 'a fault of the server'
      const find = answers[answer.status]
      return find ? find(answer) : `status ${answer.status} is not declared`
    },
  }
}

function faultFinder(document: Document, given: DocumentedAnswer | { $ref: string }): DescribedOperation['faultIn'] {
  const { headers, content } = inlined(document, given) as DocumentedAnswer
  const cacheControl = headers?.['Cache-Control']
  const caching = cacheControl && Compile((inlined(document, cacheControl) as { schema: object }).schema)
  const [[type, media] = []] = Object.entries(content ?? {})
  const isJson = type === 'application/json'
  const schema = isJson ? Compile(closed(media!.schema) as object) : undefined
  const codes = media?.examples && Object.keys(media.examples)
  return ({ status, headers, text }) => {
    if (!/^req_[0-9A-Za-z]{22}$/.test(String(headers['x-request-id']))) return 'no X-Request-Id'
    if (caching && !caching.Check(headers['cache-control'])) return `Cache-Control is ${headers['cache-control']}`
    if (!type) return text === '' ? undefined : 'a body where none is declared'
    if (type !== '*/*' && !String(headers['content-type']).startsWith(type))
      return `${headers['content-type']} instead of ${type}`
    if (!schema) return undefined
    const body = JSON.parse(text) as { error?: { code: string; request_id: string } | string }
    if (!schema.Check(body)) return `its schema fails: ${JSON.stringify(schema.Errors(body)[1]).slice(0, 500)}`
    if (status < 400) return undefined
    // The Space endpoint's errors are flat.
    if (typeof body.error === 'string') return undefined
    if (codes && !codes.includes(body.error!.code)) return `code ${body.error!.code} is not declared`
    return body.error!.request_id === headers['x-request-id'] ? undefined : 'two request ids'
  }
}

/** Replaces every reference by its target. */
function inlined(document: Document, json: unknown): unknown {
  if (Array.isArray(json)) return json.map((entry) => inlined(document, entry))
  if (json === null || typeof json !== 'object') return json
  if ('$ref' in json) {
    const [, , kind, name] = (json.$ref as string).split('/')
    return inlined(document, document.components[kind!]![name!])
  }
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, key === 'headers' ? value : inlined(document, value)]),
  )
}

/** The schema that also refuses undeclared fields, because undocumented fields must not leak. */
function closed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(closed)
  if (json === null || typeof json !== 'object') return json
  const entries = Object.entries(json).map(([key, value]) => [
    key,
    key === 'properties' ? closedProperties(value as object) : closed(value),
  ])
  return Object.fromEntries(
    'properties' in json && !('additionalProperties' in json) ? [...entries, ['additionalProperties', false]] : entries,
  )
}

function closedProperties(properties: object): unknown {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, closed(schema)]))
}
