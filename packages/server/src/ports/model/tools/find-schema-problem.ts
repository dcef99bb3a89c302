import { Errors, Meta, Pointer } from 'typebox/schema'
import { timeBoxed } from './time-boxed.ts'

const maxBytes = 64 * 1024
/** Once for each tool of a session; the first in a process is slow. */
const maxMs = 1_000
const refKeys = new Set(['$ref', '$dynamicRef', '$recursiveRef'])
const metaSchema = Meta['https://json-schema.org/draft/2020-12/schema']

/**
 * What keeps a JSON Schema (2020-12) from describing a tool's arguments, in words for its owner; undefined when nothing does. References stay
 * inside the schema: nothing is ever fetched for one.
 */
export function findSchemaProblem(schema: Record<string, unknown>): string | undefined {
  try {
    if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes) return `has more than ${maxBytes} bytes`
    return timeBoxed(maxMs, () => findProblem(schema))
  } catch {
    return 'is nested too deeply or too large to check'
  }
}

function findProblem(schema: Record<string, unknown>): string | undefined {
  if (schema['type'] !== 'object') return 'must have "type": "object" at the top'
  const [valid, errors] = Errors(metaSchema, schema)
  if (!valid) return `is not a JSON Schema: ${errors[0]?.instancePath || 'it'} ${errors[0]?.message ?? 'is wrong'}`
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
