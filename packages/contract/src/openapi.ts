import type { TObject, TSchema } from 'typebox'
import { limits } from './limits.ts'
import { answersOf, collectErrors, type ErrorCollector, type ErrorPage, headerComponents } from './openapi-answers.ts'
import { collectSchemas, type Json, type JsonObject, type SchemaCollector, jsonOf } from './openapi-schemas.ts'
import { defaultSecurity, securityOf, securitySchemes } from './openapi-security.ts'
import { tags } from './openapi-tags.ts'
import { webhookParameters, webhooksOf } from './openapi-webhooks.ts'
import type { Operation } from './operation.ts'
import { operations } from './table.ts'

export interface OpenApiOptions {
  /** false: the live, published operations. true: every operation of the contract, with its x-status. */
  full: boolean
  /** The base URL of the API, such as https://api.example/v1. */
  baseUrl: string
  /** Returns the URL of an error code's page. Default: a path relative to the folder openapi/. */
  errorPage?: ErrorPage
}

const idempotencyKey: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: limits.idempotencyKeyLength,
  pattern: '^[\\x20-\\x7E]+$',
}

const parameterComponents: JsonObject = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A random value, new for each request and the same for its retries: a retry returns the first answer. Kept ' +
      'for 24 hours.',
    schema: idempotencyKey,
  },
  IdempotencyKeyRequired: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      'A random value, new for each request and the same for its retries: a retry returns the first answer and ' +
      'never bills twice.',
    schema: idempotencyKey,
  },
}

/** The version of the contract, in the OpenAPI documents and in the discovery document. */
export const contractVersion = '1.0.0-beta'

/**
 * The OpenAPI 3.1 document of the operations table. The same options give the same document, with keys in the same
 * order.
 */
export function openApiDocument({
  full,
  baseUrl,
  errorPage = (code) => `../docs/errors/${code}.md`,
}: OpenApiOptions): JsonObject {
  const shown = Object.values<Operation>(operations).filter((op) => full || (op.status === 'live' && !op.unpublished))
  const schemas = collectSchemas()
  const errors = collectErrors(schemas, errorPage)
  const paths = pathsOf(shown, { schemas, errors, versioned: full })
  const webhooks = webhooksOf(schemas)
  const parameters = onlyUsed({ ...parameterComponents, ...webhookParameters }, 'parameters', { paths, webhooks })
  const responses = errors.collected()
  return {
    openapi: '3.1.1',
    info: {
      title: full ? 'Atrium: every operation' : 'Atrium',
      version: contractVersion,
      summary: 'Collections, artifacts, agents, credits and rooms for the apps of many tenants.',
      description: introduction(full),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Generators of clients read one server for the whole document. In a document with versioned and unversioned
    // operations, the paths therefore contain the version.
    servers: [{ url: full ? baseUrl.replace(/\/v1\/?$/, '') : baseUrl, description: 'This installation.' }],
    security: defaultSecurity,
    tags: tags.filter((tag) => shown.some((op) => op.tag === tag.name)).map((tag) => ({ ...tag })),
    paths,
    webhooks,
    components: {
      schemas: schemas.collected(),
      responses,
      parameters,
      headers: onlyUsed(headerComponents, 'headers', { paths, responses }),
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).filter(([name]) =>
          [defaultSecurity, ...shown.map(securityOf)].some((alternatives) =>
            alternatives.some((requirement) => name in requirement),
          ),
        ),
      ),
    },
  }
}

interface Context {
  schemas: SchemaCollector
  errors: ErrorCollector
  /** Whether paths begin with /v1, except for those of legacy operations. */
  versioned: boolean
}

function pathsOf(shown: Operation[], context: Context): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const op of shown) {
    const path = (paths[context.versioned && !isLegacy(op) ? `/v1${op.path}` : op.path] ??= {})
    path[op.method.toLowerCase()] = operationOf(op, context)
  }
  return paths
}

function isLegacy(op: Operation): boolean {
  return op.status === 'legacy' || op.becomes === 'legacy'
}

function operationOf(op: Operation, { schemas, errors }: Context): JsonObject {
  const parameters = [
    ...parametersOf(op.params, 'path', schemas),
    ...parametersOf(op.query, 'query', schemas),
    ...parametersOf(op.headers, 'header', schemas),
    ...(op.idempotency
      ? [{ $ref: `#/components/parameters/${op.idempotency === 'required' ? 'IdempotencyKeyRequired' : 'IdempotencyKey'}` }]
      : []),
  ]
  return {
    operationId: op.id,
    'x-status': op.status,
    ...(op.becomes ? { 'x-becomes': op.becomes } : {}),
    tags: [op.tag],
    summary: op.summary,
    description: op.role === 'issuer' ? `${op.description}\n\nThe tenant must hold the issuer role.` : op.description,
    ...(op.caller === 'secret' && !op.capability && !op.sessionOnly ? {} : { security: securityOf(op) }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(op.body ? { requestBody: requestBodyOf(op.body, !op.bodyOptional, jsonOf(op.example?.body), schemas) } : {}),
    responses: { ...answersOf(op, schemas), ...errors.errorsOf(op) },
  }
}

function requestBodyOf(body: TSchema, required: boolean, example: Json | undefined, schemas: SchemaCollector): JsonObject {
  return {
    required,
    content: { 'application/json': { schema: schemas.emit(body), ...(example === undefined ? {} : { example }) } },
  }
}

function parametersOf(object: TObject | undefined, place: 'path' | 'query' | 'header', schemas: SchemaCollector): JsonObject[] {
  if (!object) return []
  const required = new Set<string>(object.required)
  return Object.entries(object.properties).map(([name, property]) => {
    const { description, ...schema } = schemas.emit(property) as JsonObject
    return {
      name: place === 'header' ? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()) : name,
      in: place,
      required: required.has(name),
      ...(description === undefined ? {} : { description }),
      schema,
    }
  })
}

/** Removes the components of one kind that nothing refers to. */
function onlyUsed(components: JsonObject, kind: string, users: Json): JsonObject {
  const text = JSON.stringify(users)
  return Object.fromEntries(Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
}

function introduction(full: boolean): string {
  return [
    'JSON over HTTPS. A success is `{data, meta?}`, an error `{error: {code, message, request_id}}`. Every ' +
      'response has `X-Request-Id`. A tenant key is sent as `Authorization: Bearer …` or as `X-API-Key`.',
    full
      ? 'Every operation has an `x-status`: `live` is served under /v1; `legacy` is served at the API origin without a version, and is 404 ' +
        'under /v1; `proposed` is not built. `x-becomes` is the later status of a proposed operation, where it is ' +
        'decided.'
      : 'Every operation here is live. The full document (openapi.full.json) also lists the legacy and proposed ones.',
    'Private beta: the contract may change, including breaking changes, in agreement with the invited tenants. The ' +
      'guarantee that breaking changes appear only under a new prefix starts with the stable release.',
  ].join('\n\n')
}
