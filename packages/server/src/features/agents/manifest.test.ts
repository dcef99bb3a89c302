import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#errors/api-error.ts'
import { processorMs } from '#testing/processor-block.ts'
import { assertToolParameters } from './manifest.ts'

const withProperty = (a: unknown) => ({ type: 'object', properties: { a } })

function nested(levels: number): object {
  return levels === 0 ? { type: 'string' } : { not: nested(levels - 1) }
}

function placeOfFault(parameters: Record<string, unknown>): string | undefined {
  try {
    assertToolParameters(parameters, '')
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request', String(error))
    return error.details![0]!.path
  }
}

test('common hand-written and generated schemas are accepted', () => {
  const good = [
    { type: 'object' },
    { type: 'object', properties: {}, additionalProperties: false, required: [] },
    withProperty({ type: ['string', 'null'], description: 'x', default: null, enum: ['a', null], format: 'date' }),
    withProperty({ anyOf: [{ type: 'integer', minimum: 1 }, { const: 'all' }] }),
    withProperty({ type: 'array', prefixItems: [{ type: 'number' }], items: false, uniqueItems: true }),
    withProperty(true),
    {
      ...withProperty({ $ref: '#/$defs/lamp' }),
      $defs: { lamp: { type: 'object', properties: { next: { $ref: '#/$defs/lamp' } } } },
    },
    { ...withProperty({ $ref: '#/definitions/lamp' }), definitions: { lamp: { type: 'string' } } },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', ...withProperty({ pattern: '^\\p{L}+$', type: 'string' }) },
    { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
    // Properties may have the names of keywords.
    { type: 'object', properties: { pattern: { type: 'string' }, $ref: { type: 'string' }, $id: { type: 'string' } } },
    { type: 'object', 'x-vendor': { a: 1 }, title: 'T', examples: [{}] },
  ]
  for (const parameters of good) assert.equal(placeOfFault(parameters), undefined, JSON.stringify(parameters))
})

test('a schema that is not of an object is refused with the path of the fault', () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{}, '/type'],
    [{ type: 'array' }, '/type'],
    [{ type: ['object', 'null'] }, '/type'],
    [withProperty({ type: 'text' }), '/properties/a/type'],
    [withProperty({ minimum: '1' }), '/properties/a/minimum'],
    [withProperty(3), '/properties/a'],
    [{ type: 'object', required: 'a' }, '/required'],
    [withProperty({ anyOf: [] }), '/properties/a/anyOf'],
    [withProperty({ items: [{ type: 'string' }] }), '/properties/a/items'],
    [{ type: 'object', $schema: 'https://schemas.example/mine' }, '/$schema'],
    [withProperty({ pattern: '(' }), '/properties/a/pattern'],
    [{ type: 'object', patternProperties: { '[': true } }, '/patternProperties'],
  ]
  for (const [parameters, place] of wrong) assert.equal(placeOfFault(parameters), place, JSON.stringify(parameters))
})

test('a reference points only into the schema itself', () => {
  const outside = [
    'https://schemas.example/a.json',
    'file:///etc/passwd',
    'a.json',
    '#lamp',
    '#/$defs/none',
    '#/%24defs/lamp',
    '#/$defs/lamp/type',
    '',
  ]
  for (const $ref of outside) {
    const parameters = { ...withProperty({ $ref }), $defs: { lamp: { type: 'string' } } }
    assert.equal(placeOfFault(parameters), '/properties/a/$ref', $ref)
  }
  for (const name of ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef'])
    assert.equal(placeOfFault(withProperty({ [name]: '#a' })), `/properties/a/${name}`)
})

test('size, depth and patterns are bounded', () => {
  assert.equal(placeOfFault(withProperty({ description: 'x'.repeat(16_000) })), undefined)
  assert.equal(placeOfFault(withProperty({ description: 'ü'.repeat(8_200) })), '')
  assert.equal(placeOfFault(withProperty(nested(15))), undefined)
  assert.match(placeOfFault(withProperty(nested(40)))!, /^\/properties\/a(\/not)+$/)
  assert.match(placeOfFault(withProperty({ default: nested(40) }))!, /^\/properties\/a\/default(\/not)+$/)
  assert.equal(placeOfFault(withProperty({ pattern: 'a'.repeat(200) })), undefined)
  assert.equal(placeOfFault(withProperty({ pattern: 'a'.repeat(201) })), '/properties/a/pattern')
  assert.equal(placeOfFault({ type: 'object', patternProperties: { ['a'.repeat(201)]: {} } }), '/patternProperties')
})

test('the check of the largest schemas is fast', () => {
  const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, {}])) }
  const hostile = withProperty({ anyOf: Array.from({ length: 1_000 }, () => ({ not: 1 })) })
  const deep = (levels: number): object => (levels === 0 ? { type: 1 } : { anyOf: [deep(levels - 1), deep(levels - 1)] })
  assertToolParameters({ type: 'object' }, '')
  const startedAt = processorMs()
  for (const parameters of [wide, hostile, withProperty(deep(8))]) placeOfFault(parameters)
  assert.ok(processorMs() - startedAt < 2_000, `${processorMs() - startedAt} ms`)
})
