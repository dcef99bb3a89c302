import { PublicJwk } from '../../packages/contract/src/schemas.ts'

/** The part of JSON Schema that the contract uses. */
interface Schema {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  items?: Schema | Schema[]
  description?: string
}

/** Prints a schema of the contract as a TypeScript type. The description of a property becomes its comment. */
export function printType(given: object): string {
  const schema = given as Schema
  // As loose as Web Crypto's own type, so that its exported keys fit. The server checks the rest.
  if (schema.description === (PublicJwk as Schema).description) return '{ kty?: string; crv?: string; x?: string; y?: string }'
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const parts = schema.oneOf ?? schema.anyOf
  if (parts) return union(parts.map(printType))
  if (schema.allOf) return schema.allOf.map((part) => `(${printType(part)})`).join(' & ')
  const { type } = schema
  if (Array.isArray(type)) return union(type.map((one) => printType({ ...schema, type: one })))
  if (type === 'array') {
    const { items } = schema
    if (Array.isArray(items)) return `[${items.map(printType).join(', ')}]`
    return items ? `Array<${printType(items)}>` : 'unknown[]'
  }
  if (type === 'object') return printObject(schema)
  if (type === 'integer') return 'number'
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'null' ? type : 'unknown'
}

function printObject({ properties, required = [], additionalProperties, patternProperties }: Schema): string {
  const values = Object.values(patternProperties ?? {})[0] ?? additionalProperties
  const record = typeof values === 'object' ? `Record<string, ${printType(values)}>` : 'Record<string, unknown>'
  if (!properties || Object.keys(properties).length === 0) {
    return additionalProperties === false && !patternProperties ? 'Record<string, never>' : record
  }
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
    return `${printComment(schema.description)}${key}${required.includes(name) ? '' : '?'}: ${printType(schema)}`
  })
  return `{\n${members.join('\n')}\n}`
}

export function printComment(...texts: (string | undefined)[]): string {
  const written = texts.filter((text) => text !== undefined).map((text) => text.replaceAll('*/', '*\u200b/'))
  return written.length === 0 ? '' : `/** ${written.join('\n\n').replaceAll('\n', '\n * ')} */\n`
}

function union(types: string[]): string {
  return [...new Set(types)].join(' | ')
}
