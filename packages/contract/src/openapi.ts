import type { TObject, TSchema } from 'typebox'
import { limits } from './limits.ts'
import { answersOf, collectErrors, type ErrorCollector, type ErrorPage, headerComponents } from './openapi-answers.ts'
import { collectSchemas, type Json, type JsonObject, type SchemaCollector } from './openapi-schemas.ts'
import { defaultSecurity, securityOf, securitySchemes } from './openapi-security.ts'
import { tags } from './openapi-tags.ts'
import { webhookParameters, webhooksOf } from './openapi-webhooks.ts'
import type { Operation } from './operation.ts'
import { operations } from './table.ts'

export interface OpenApiOptions {
  /** false: what a key can call, live and published. true: every operation of the contract, with its label. */
  full: boolean
  /** Where /v1 is, such as https://api.example/v1. */
  baseUrl: string
  /** Where the page of an error code is; as it stands, relative to the folder openapi/. */
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
      'A fresh random value for each new request, the same for its retries: a retry replays the first answer. Kept for 24 hours.',
    schema: idempotencyKey,
  },
  IdempotencyKeyRequired: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      'A fresh random value for each new request, the same for its retries: a retry bills once and replays the first answer.',
    schema: idempotencyKey,
  },
}

/** The OpenAPI 3.1 document of the table. The same options give the same document, key by key. */
export function openApiDocument({
  full,
  baseUrl,
  errorPage = (code) => `../docs/errors/${code}.md`,
}: OpenApiOptions): JsonObject {
  const shown = Object.values<Operation>(operations).filter((op) => full || (op.status === 'live' && !op.unpublished))
  const schemas = collectSchemas()
  const errors = collectErrors(schemas, errorPage)
  const paths = pathsOf(shown, { schemas, errors, rootUrl: baseUrl.replace(/\/v1\/?$/, '') })
  const webhooks = webhooksOf(schemas)
  const parameters = onlyUsed({ ...parameterComponents, ...webhookParameters }, 'parameters', { paths, webhooks })
  const responses = errors.collected()
  return {
    openapi: '3.1.1',
    info: {
      title: full ? 'Atrium: every operation' : 'Atrium',
      version: '1.0.0-beta',
      summary: 'Collections, artifacts, agents, credits and rooms for the apps of many tenants.',
      description: introduction(full),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl, description: 'This installation.' }],
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
  /** Where legacy operations live: the API origin. */
  rootUrl: string
}

function pathsOf(shown: Operation[], context: Context): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const op of shown) {
    const path = (paths[op.path] ??= isLegacy(op)
      ? { servers: [{ url: context.rootUrl, description: 'The API origin: this path has no version, and is 404 under /v1.' }] }
      : {})
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
    ...(op.caller === 'secret' && !op.capability ? {} : { security: securityOf(op) }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(op.body ? { requestBody: requestBodyOf(op.body, op.example?.body as Json | undefined, schemas) } : {}),
    responses: { ...answersOf(op, schemas), ...errors.errorsOf(op) },
  }
}

function requestBodyOf(body: TSchema, example: Json | undefined, schemas: SchemaCollector): JsonObject {
  return {
    required: true,
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

/** The components of one kind that something refers to: the others would be dead weight. */
function onlyUsed(components: JsonObject, kind: string, users: Json): JsonObject {
  const text = JSON.stringify(users)
  return Object.fromEntries(Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
}

function introduction(full: boolean): string {
  return [
    'JSON in, JSON out, over HTTPS. A success is `{data, meta?}`, an error `{error: {code, message, request_id}}`; every answer bears ' +
      '`X-Request-Id`. A tenant key travels as `Authorization: Bearer …` or as `X-API-Key`.',
    full
      ? 'Every operation bears `x-status`: `live` is served under /v1; `legacy` is served at the API origin without a version, and is 404 ' +
        'under /v1; `proposed` is not built, with `x-becomes` where it is known what it will be.'
      : 'Every operation here is live. The full document (openapi.full.json) also lists the legacy and proposed ones.',
    'Private beta: the contract may change, breaking changes included, in step with those who were invited. The guarantee that breaking ' +
      'changes come only under a new prefix begins with the stable release.',
  ].join('\n\n')
}
