import { Compile, Meta, Pointer } from '#libraries/typebox-schema.js'
import { timeBoxed } from './time-boxed.ts'

/** The same limits as for a registered tool. */
const maxBytes = 16 * 1024
const refKeys = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

// Compiled on first use: compiling takes 20 ms, and makes a check fifteen times as fast.
let metaSchema: ReturnType<typeof Compile> | undefined

/**
 * Returns why a JSON Schema (2020-12) cannot describe the arguments of a tool; undefined if it can. References stay
 * inside the schema: nothing is fetched. A check that takes longer than `maxMs` is aborted.
 */
export function findSchemaProblem(schema: Record<string, unknown>, maxMs: number): string | undefined {
  metaSchema ??= Compile(Meta['https://json-schema.org/draft/2020-12/schema'])
  const isSchema = metaSchema
  try {
    return timeBoxed(maxMs, () => findProblem(schema, isSchema))
  } catch {
    return 'is nested too deeply or too large to check'
  }
}

function findProblem(schema: Record<string, unknown>, isSchema: ReturnType<typeof Compile>): string | undefined {
  if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes) return `has more than ${maxBytes} bytes`
  if (schema['type'] !== 'object') return 'must have "type": "object" at the top'
  if (!isSchema.Check(schema)) return 'is not a JSON Schema'
  return findBadRef(schema, schema)
}

function findBadRef(root: Record<string, unknown>, node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  for (const [key, value] of Object.entries(node)) {
    const problem = (refKeys.has(key) ? refProblem(root, value) : undefined) ?? findBadRef(root, value)
    if (problem) return problem
  }
  return undefined
}

function refProblem(root: Record<string, unknown>, ref: unknown): string | undefined {
  if (typeof ref !== 'string') return undefined
  if (!/^#($|\/)/.test(ref)) return 'has a $ref that points outside of itself: only #/… is followed'
  return ref === '#' || Pointer.Has(root, decodeURIComponent(ref.slice(1)))
    ? undefined
    : 'has a $ref to a place that it does not have'
}
