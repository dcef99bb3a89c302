import type Typebox from 'typebox'

type Options = Readonly<Record<string, unknown>>
type Schema = Readonly<Record<string | symbol, unknown>>

const optional = new WeakSet<object>()

/**
 * The functions of TypeBox that the contract declares its schemas with: they make the same JSON Schemas, with the same
 * types. TypeBox itself has 430 files for this. They take 2 MiB of the API at rest, and a tenth of a second of the start
 * of each process that reads the contract.
 */
export const Type = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: string | number | boolean, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Options) => {
    const required = Object.entries(properties).flatMap(([name, schema]) => (optional.has(schema) ? [] : [name]))
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options }
  },
  /** Marks a copy, because the schema may be required elsewhere. */
  Optional: (schema: Schema) => {
    const marked = { ...schema }
    optional.add(marked)
    return marked
  },
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  // TypeBox computes the types of schemas from conditions that no implementation can show to hold.
} as unknown as Pick<
  typeof Typebox,
  'Array' | 'Boolean' | 'Integer' | 'Literal' | 'Number' | 'Object' | 'Optional' | 'String' | 'Union' | 'Unsafe'
>
