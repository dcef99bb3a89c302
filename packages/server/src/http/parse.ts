import type { ErrorDetail } from '@atrium/contract/errors'
import type { Operation } from '@atrium/contract/operation'
import { readableLength } from '@atrium/contract/readable-length'
import { readablePattern } from '@atrium/contract/readable-pattern'
import { isJsonObject, JsonError, parseStrictJson, shortPath } from '@atrium/contract/strict-json'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile, Errors } from '#libraries/typebox-schema.js'
import { ApiError, invalid } from '#errors/api-error.ts'
import { closest } from '#errors/closest.ts'

type Check = (value: unknown) => void

const maxDetails = 20

/**
 * A check that throws 400 with a detail for each wrong field. The path of a detail is a JSON Pointer into the body or the
 * query. It is compiled on first use, which takes a millisecond: most operations of an installation are seldom called,
 * and all checks together take some megabytes.
 */
export function lazyCheck(schema: TSchema): Check {
  let validator: ReturnType<typeof Compile> | undefined
  return (value) => {
    validator ??= Compile(schema)
    if (validator.Check(value)) return
    const details = explain(Errors(schema, value)[1], fieldsOf(schema))
    const [first] = details
    throw new ApiError('invalid_request', {
      message: first ? `${first.path || 'body'}: ${first.message}` : 'The request is not valid.',
      details,
    })
  }
}

interface SchemaError {
  keyword: string
  instancePath: string
  message: string
  params: object
}

/** Converts validator errors to readable details, one per field. */
function explain(found: SchemaError[], fields: string[]): ErrorDetail[] {
  const details = new Map<string, string>()
  const note = (path: string, message: string) => {
    const short = shortPath(path)
    if (details.size < maxDetails && !details.has(short)) details.set(short, message)
  }
  for (const { keyword, instancePath, message, params } of found) {
    if (keyword === 'boolean') continue
    const names = params as {
      additionalProperties?: string[]
      requiredProperties?: string[]
      allowedValues?: unknown[]
      pattern?: string | RegExp
    }
    if (keyword === 'additionalProperties')
      for (const name of names.additionalProperties ?? []) {
        const meant = instancePath === '' ? closest(name, fields) : undefined
        note(`${instancePath}/${name}`, meant === undefined ? 'unknown field' : `unknown field; did you mean ${meant}?`)
      }
    else if (keyword === 'required')
      for (const name of names.requiredProperties ?? []) note(`${instancePath}/${name}`, 'required')
    else if (keyword === 'enum') note(instancePath, `must be one of ${(names.allowedValues ?? []).join(', ')}`)
    else if (keyword === 'pattern') note(instancePath, readablePattern(String(names.pattern)) ?? message)
    else note(instancePath, reworded(message))
  }
  return [...details].map(([path, message]) => ({ path, message }))
}

/** The validator's terse messages as sentences that say what to send. */
function reworded(message: string): string {
  if (message.startsWith('must match format "date-time"'))
    return 'must be a time with its offset (RFC 3339), such as 2026-11-20T09:30:00Z'
  return readableLength(message)
    .replace(/^must be (array|integer|object)$/, 'must be an $1')
    .replace(/^must be (string|number|boolean)$/, 'must be a $1')
    .replace(/^must be >= (\S+)$/, 'must be at least $1')
    .replace(/^must be <= (\S+)$/, 'must be at most $1')
}

function fieldsOf(schema: TSchema): string[] {
  return 'properties' in schema && isJsonObject(schema.properties) ? Object.keys(schema.properties) : []
}

/** Whether the caller is a browser that opens a page. Other programs get JSON. */
export function acceptsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

/** The path of a request's address, without its query. The router ends a path at `#` too. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** The path as the router reads it, so that each spelling of an address (`%63ol_…`) is one path. */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    // The router refuses such a path, so only a question about one comes here.
    return path
  }
}

/** The bytes of the body, which no route of the API parses before the handler. */
export function bodyOf({ body }: FastifyRequest): Buffer | undefined {
  return Buffer.isBuffer(body) ? body : undefined
}

const emptyObject = Buffer.from('{}')

/** The same, with `{}` for an absent body where the operation takes one that is optional. */
export function bodyFor({ bodyOptional }: Operation, req: FastifyRequest): Buffer | undefined {
  const bytes = bodyOf(req)
  return bodyOptional && !bytes?.length ? emptyObject : bytes
}

/** Parses the JSON of a required body. */
export function parseBody(bytes: Buffer | undefined): unknown {
  if (!bytes || bytes.length === 0) throw invalid('', 'a JSON body is required')
  // Some editors write it, and nobody sees it (RFC 8259, 8.1).
  if (bytes.readUIntBE(0, Math.min(3, bytes.length)) === 0xefbbbf)
    throw invalid('', 'not valid JSON: it begins with a byte order mark; send UTF-8 without one')
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (error instanceof JsonError) throw invalid(error.path, error.message)
    throw error
  }
}

/** For an operation without a body: accepts an empty body and `{}`, which many clients send. */
export function assertNoBody(bytes: Buffer | undefined): void {
  if (!bytes || bytes.length === 0) return
  const body = parseBody(bytes)
  const empty = typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0
  if (!empty) throw invalid('', 'this operation accepts only an empty body or {}')
}

/** Query parameters are text. Those with an integer or boolean schema are converted if they have its form. */
export function lazyQuery(schema: TSchema): (query: Record<string, unknown>) => Record<string, unknown> {
  const check = lazyCheck(schema)
  const properties = 'properties' in schema && isJsonObject(schema.properties) ? Object.entries(schema.properties) : []
  const ofType = (type: string) =>
    properties.flatMap(([name, field]) => (isJsonObject(field) && field['type'] === type ? [name] : []))
  const [integers, booleans] = [ofType('integer'), ofType('boolean')]
  return (query) => {
    const values = { ...query }
    for (const name of booleans) {
      const text = values[name]
      if (text === 'true' || text === 'false') values[name] = text === 'true'
    }
    for (const name of integers) {
      const text = values[name]
      if (typeof text === 'string' && /^\d{1,16}$/.test(text)) values[name] = Number(text)
    }
    check(values)
    return values
  }
}

/** Throws if the value's JSON exceeds the limit. */
export function assertJsonSize(value: unknown, maxBytes: number, path: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > maxBytes) throw invalid(path, `too large: ${bytes} bytes of JSON, at most ${maxBytes}`)
}
