import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorCodesOf } from './error-codes.ts'
import { errors } from './errors.ts'
import { openApiDocument } from './openapi.ts'
import type { Operation } from './operation.ts'
import { operations } from './table.ts'

const baseUrl = 'https://api.harbour.example/v1'
const production = openApiDocument({ full: false, baseUrl }) as unknown as Document
const full = openApiDocument({ full: true, baseUrl }) as unknown as Document
const documents = { production, full }

interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, unknown>>
  components: Record<string, Record<string, unknown>>
  security: Record<string, []>[]
  tags: { name: string }[]
}

interface DocumentedOperation {
  operationId: string
  'x-status': string
  tags: string[]
  security?: Record<string, []>[]
  parameters?: { $ref?: string; name?: string }[]
  responses: Record<
    string,
    { $ref?: string; headers?: Record<string, unknown>; content?: Record<string, { schema: any; examples?: object }> }
  >
}

function documented(document: Document): Map<string, DocumentedOperation> {
  const entries = Object.values(document.paths).flatMap((path) => Object.entries(path))
  return new Map(entries.map(([, op]) => [(op as DocumentedOperation).operationId, op as DocumentedOperation]))
}

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    visit(key, member)
    walk(member, visit)
  }
}

describe('the OpenAPI documents', () => {
  it('the production document has every live, published operation and no other', () => {
    const expected = Object.values<Operation>(operations).filter((op) => op.status === 'live' && !op.unpublished)
    assert.deepEqual([...documented(production).keys()].sort(), expected.map((op) => op.id).sort())
  })

  it('the production document has no operator calls', () => {
    assert.doesNotMatch(JSON.stringify(production), /X-Admin-Token|operatorToken|"Operator"|invites/)
  })

  it('the full document has every operation', () => {
    assert.deepEqual([...documented(full).keys()].sort(), Object.keys(operations).sort())
  })

  it('every operation has its x-status', () => {
    for (const document of Object.values(documents)) {
      for (const [id, op] of documented(document)) assert.equal(op['x-status'], operations[id as keyof typeof operations].status)
    }
  })

  it('one server holds for the whole document: legacy paths are at the origin, all others under /v1', () => {
    assert.deepEqual(
      production.servers.map(({ url }) => url),
      [baseUrl],
    )
    assert.deepEqual(
      full.servers.map(({ url }) => url),
      ['https://api.harbour.example'],
    )
    for (const [path, item] of Object.entries(full.paths)) {
      for (const { operationId } of Object.values(item) as DocumentedOperation[]) {
        const op: Operation = operations[operationId as keyof typeof operations]
        const isLegacy = op.status === 'legacy' || op.becomes === 'legacy'
        assert.equal(path, isLegacy ? op.path : `/v1${op.path}`)
      }
    }
  })

  it('every reference resolves, and every component is referred to', () => {
    for (const [name, document] of Object.entries(documents)) {
      const references = new Set<string>()
      walk(document, (key, value) => void (key === '$ref' && references.add(value as string)))
      for (const reference of references) {
        const found = reference
          .slice(2)
          .split('/')
          .reduce<any>((at, key) => at?.[key], document)
        assert.ok(found, `${name}: ${reference}`)
      }
      for (const kind of ['schemas', 'responses', 'parameters', 'headers']) {
        for (const component of Object.keys(document.components[kind]!)) {
          assert.ok(references.has(`#/components/${kind}/${component}`), `${name}: ${kind} ${component} is not used`)
        }
      }
    }
  })

  it('every security scheme and tag that is named exists', () => {
    for (const document of Object.values(documents)) {
      for (const op of documented(document).values()) {
        for (const name of [...(op.security ?? []), ...document.security].flatMap((requirement) => Object.keys(requirement))) {
          assert.ok(document.components.securitySchemes![name], name)
        }
        assert.ok(
          document.tags.some((tag) => tag.name === op.tags[0]),
          op.tags[0],
        )
      }
    }
  })

  it('lists the combinations of credentials that may call an operation', () => {
    const security = (id: string) =>
      documented(full)
        .get(id)!
        .security?.map((requirement) => Object.keys(requirement).join('+'))
    assert.deepEqual(security('renderCollection'), [])
    assert.equal(security('getTenant'), undefined)
    assert.deepEqual(security('createTenant'), ['operatorToken'])
    assert.deepEqual(security('getMedia'), ['', 'collectionToken'])
    assert.deepEqual(security('deleteItem'), [
      'publishableKey+collectionToken',
      'publishableKeyHeader+collectionToken',
      'secretKey+collectionToken',
      'secretKeyHeader+collectionToken',
    ])
    assert.equal(security('addItem')!.length, 8)
  })

  it('documents every error code an operation may answer, under its status', () => {
    for (const [id, op] of documented(full)) {
      const declared: Operation = operations[id as keyof typeof operations]
      if (declared.flatErrors) continue
      for (const code of errorCodesOf(declared)) {
        const response = op.responses[errors[code].status]
        assert.ok(response, `${id}: ${code}`)
        if (response.$ref) assert.ok(response.$ref.split('.').includes(code), `${id}: ${code} in ${response.$ref}`)
      }
    }
  })

  it('shows the headers that go with an answer', () => {
    const created = documented(full).get('createCollection')!.responses[201]!
    assert.deepEqual(Object.keys(created.headers!), [
      'X-Request-Id',
      'RateLimit',
      'RateLimit-Policy',
      'Idempotency-Status',
      'Idempotency-Expires',
      'Cache-Control',
    ])
    const limited = full.components.responses!['Error429.rate_limited'] as { headers: object }
    assert.ok('Retry-After' in limited.headers)
  })

  it('wraps JSON in the envelope, with meta on paged lists, and leaves raw answers bare', () => {
    const data = (id: string, type: string) => documented(full).get(id)!.responses[200]!.content![type]!.schema
    assert.deepEqual(Object.keys(data('listArtifacts', 'application/json').properties), ['data', 'meta'])
    assert.deepEqual(Object.keys(data('getArtifact', 'application/json').properties), ['data'])
    assert.deepEqual(data('getArtifact', 'application/json').properties.data, { $ref: '#/components/schemas/Artifact' })
    assert.deepEqual(data('renderCollection', 'text/html'), { type: 'string' })
    assert.deepEqual(data('callSpace', 'application/json'), { $ref: '#/components/schemas/SpaceAnswer' })
  })

  it('is plain JSON without properties of TypeBox, and deterministic', () => {
    for (const [name, document] of Object.entries(documents)) {
      assert.deepEqual(JSON.parse(JSON.stringify(document)), document)
      walk(document, (key) => assert.ok(!key.startsWith('~'), `${name}: ${key}`))
      assert.equal(JSON.stringify(openApiDocument({ full: name === 'full', baseUrl })), JSON.stringify(document))
    }
  })
})
