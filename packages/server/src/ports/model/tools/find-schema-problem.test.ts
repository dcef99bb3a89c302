import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSchemaProblem } from './find-schema-problem.ts'

const object = (properties: Record<string, unknown>, more = {}) => ({ type: 'object', properties, ...more })

test('schemas that describe arguments are taken', () => {
  const schemas = [
    object({}),
    object({ number: { type: 'integer' } }, { required: ['number'] }),
    object({ a: { $ref: '#/$defs/a' }, next: { $ref: '#' } }, { $defs: { a: { type: 'string', pattern: '^\\p{L}+$' } } }),
    object({ $ref: { type: 'string' }, pattern: { type: 'string' } }),
  ]
  for (const schema of schemas) assert.equal(findSchemaProblem(schema, 1_000), undefined, JSON.stringify(schema))
})

test('a schema that is none, or that points outside of itself, is refused', () => {
  let deep: Record<string, unknown> = { type: 'object' }
  for (let i = 0; i < 5_000; i++) deep = { type: 'object', not: deep }
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ type: 'string' }, /"type": "object"/],
    [{}, /"type": "object"/],
    [object({ a: { type: 'strnig' } }), /not a JSON Schema/],
    [object({ a: { $ref: 'https://evil.example/s.json' } }), /outside/],
    [object({ a: { $ref: 'other.json#/a' } }), /outside/],
    [object({ a: { $dynamicRef: 'https://evil.example/#a' } }), /outside/],
    [object({ a: { $ref: '#/$defs/none' } }), /does not have/],
    [object({ a: { type: 'string', pattern: '(' } }), /not a JSON Schema/],
    [object({}, { patternProperties: { '[': {} } }), /not a JSON Schema/],
    [object({ a: { type: 'string', pattern: 'a\\-b' } }), /not a JSON Schema/],
    [object({ a: { description: 'x'.repeat(16_384) } }), /more than 16384 bytes/],
    [deep, /more than|too deeply/],
  ]
  for (const [schema, expected] of cases) assert.match(findSchemaProblem(schema, 1_000) ?? 'nothing', expected)
})
