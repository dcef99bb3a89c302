import assert from 'node:assert/strict'
import { test } from 'node:test'
import Typebox from 'typebox'
import { Type } from './type.ts'

test('each function makes the same JSON Schema as that of TypeBox, with its keywords in the same order', () => {
  const make = (type: typeof Type) => {
    const text = type.String({ pattern: '^a', description: 'A text.' })
    const fields = { text, maybe: type.Optional(text), count: type.Integer({ minimum: 0 }) }
    return [
      type.Array(type.Number(), { maxItems: 3 }),
      type.Array(text),
      type.Boolean({ default: true }),
      type.Literal('a'),
      type.Literal(1, { description: 'One.' }),
      type.Literal(true),
      type.Object({}),
      type.Object({ maybe: type.Optional(type.Boolean()) }),
      type.Object(fields, { additionalProperties: false }),
      type.Object({ inner: type.Object(fields), again: type.Optional(type.Object(fields)) }),
      type.Union([text, type.Integer()], { description: 'Either.' }),
      type.Unsafe<string>({ type: 'string', enum: ['a'] }),
      // A copy of an optional field is required again.
      type.Object({ copied: { ...type.Optional(text) } }),
    ]
  }
  assert.deepEqual(make(Type).map(text), make(Typebox).map(text))
})

test('a schema that is optional in one object stays required in another', () => {
  const name = Type.String()
  Type.Object({ name: Type.Optional(name) })
  assert.deepEqual(JSON.parse(text(Type.Object({ name }))).required, ['name'])
})

function text(schema: object): string {
  return JSON.stringify(schema)
}
