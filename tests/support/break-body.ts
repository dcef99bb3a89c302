import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

export interface BrokenBody {
  /** What is wrong. */
  name: string
  /** JSON Pointer of the field that is wrong. */
  pointer: string
  body: unknown
}

export interface JsonSchema {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: unknown
  items?: JsonSchema
  anyOf?: JsonSchema[]
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
}

/** Values of every type and at every limit of the schema, without those that it accepts. */
function wrongValues(schema: JsonSchema): unknown[] {
  const candidates: unknown[] = [
    null,
    true,
    false,
    0,
    -1,
    1.5,
    Number.MAX_SAFE_INTEGER,
    '',
    'x',
    '\ud83d\ude00',
    ' ',
    [],
    [null],
    {},
    { a: 1 },
  ]
  if (schema.minimum !== undefined) candidates.push(schema.minimum - 1, String(schema.minimum))
  if (schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER) candidates.push(schema.maximum + 1)
  if (schema.maxLength !== undefined) candidates.push('x'.repeat(schema.maxLength + 1), '\u00e9'.repeat(schema.maxLength + 1))
  if (schema.maxItems !== undefined) candidates.push(Array.from({ length: schema.maxItems + 1 }, (_, n) => `a${n}@example.com`))
  if (schema.enum) candidates.push(String(schema.enum[0]).toUpperCase(), `${schema.enum[0]} `, [schema.enum[0]])
  if (schema.pattern) candidates.push('x'.repeat(10_000), `${schema.pattern}\n`)
  const validator = Compile(schema as TSchema)
  return candidates.filter((value) => !validator.Check(value))
}

/**
 * Bodies that each have one error: a wrong type, a limit, a missing required field, or an unknown field, at every
 * depth.
 */
export function brokenBodies(schema: TSchema, good: unknown): BrokenBody[] {
  return broken(schema, good, '')
}

/** Of a choice, what the value is one of. */
export function branchOf(schema: JsonSchema, value: unknown): JsonSchema {
  return schema.anyOf?.find((one) => Compile(one as TSchema).Check(value)) ?? schema
}

function broken(schema: JsonSchema, good: unknown, pointer: string): BrokenBody[] {
  if (schema.anyOf && good !== undefined) {
    const choice = Compile(schema as TSchema)
    // What breaks one of them may be another.
    return broken(branchOf(schema, good), good, pointer).filter(({ body }) => !choice.Check(body))
  }
  const wrong = wrongValues(schema).map((body): BrokenBody => ({
    name: `${pointer || 'the body'} is ${shorten(body)}`,
    pointer,
    body,
  }))
  if (schema.items) {
    const entries = broken(schema.items, Array.isArray(good) ? good[0] : undefined, `${pointer}/0`)
    wrong.push(...entries.map(({ body, ...rest }) => ({ ...rest, body: [body] })))
  }
  if (!schema.properties) return wrong
  const object = (good ?? {}) as Record<string, unknown>
  for (const name of schema.required ?? []) {
    const { [name]: _gone, ...body } = object
    wrong.push({ name: `${pointer}/${name} is missing`, pointer: `${pointer}/${name}`, body })
  }
  for (const name of ['unknown', 'Name', 'constructor', 'toString', '']) {
    if (schema.additionalProperties === false)
      wrong.push({ name: `${pointer}/${name} is too many`, pointer: `${pointer}/${name}`, body: { ...object, [name]: 1 } })
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    for (const { body, ...rest } of broken(property, object[name], `${pointer}/${name}`))
      wrong.push({ ...rest, body: { ...object, [name]: body } })
  }
  return wrong
}

const shorten = (value: unknown) => JSON.stringify(value).slice(0, 40)
