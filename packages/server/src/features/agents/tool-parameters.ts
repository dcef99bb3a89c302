import { shortPath } from '@atrium/contract/strict-json'
import { Compile, Errors, Meta, Pointer } from 'typebox/schema'
import { invalid, type ApiError } from '#errors/api-error.ts'

const draft = 'https://json-schema.org/draft/2020-12/schema'
/** An older draft that generators still name; what we take of it means the same. */
const drafts = new Set<unknown>([draft, 'http://json-schema.org/draft-07/schema#'])

const maxBytes = 16 * 1024
const maxDepth = 24
const maxPatternLength = 200

/** They give a schema a second address, by which a reference could lead where the walk below does not look. */
const refused = new Set(['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'])

// Compiled when the first tool comes: it takes 30 ms.
let metaSchema: ReturnType<typeof Compile> | undefined

type Fail = (at: string, message: string) => ApiError

/**
 * That a tool's parameters are a JSON Schema of an object, of bounded size and depth, without references to the outside, and with short
 * patterns that compile. Throws 400 with the place. How long a check against it may take is bounded where it is made; see
 * ports/model/tools/argument-check.ts.
 */
export function assertToolParameters(parameters: Record<string, unknown>, path: string): void {
  const fail: Fail = (at, message) => invalid(shortPath(path + at), message)
  if (parameters['type'] !== 'object') throw fail('/type', 'must be object')
  if (Buffer.byteLength(JSON.stringify(parameters)) > maxBytes) throw fail('', `must be at most ${maxBytes / 1024} KiB of JSON`)
  const { $schema } = parameters
  if ($schema !== undefined && !drafts.has($schema)) throw fail('/$schema', `must be ${draft}`)
  assertBounded(parameters, parameters, '', fail)
  metaSchema ??= Compile(Meta[draft])
  if (metaSchema.Check(parameters)) return
  const [first] = Errors(Meta[draft], parameters)[1]
  throw fail(first?.instancePath ?? '', `is not valid JSON Schema: ${first?.message}`)
}

/** Looks at every value, whether it is a schema or not: what stands in an example is held to the same. */
function assertBounded(root: object, value: unknown, at: string, fail: Fail): void {
  if (typeof value !== 'object' || value === null) return
  if (at.split('/').length > maxDepth) throw fail(at, 'nested too deeply')
  for (const [name, child] of Object.entries(value)) {
    const place = `${at}/${name}`
    if (typeof child !== 'string') {
      if (name === 'patternProperties') for (const pattern of Object.keys(child ?? {})) assertPattern(pattern, place, fail)
      assertBounded(root, child, place, fail)
    } else if (name === 'pattern') assertPattern(child, place, fail)
    else if (name === '$ref' && !isInside(root, child))
      throw fail(place, 'must point into these parameters, such as #/$defs/name')
    else if (refused.has(name)) throw fail(place, 'is not supported')
  }
}

function assertPattern(pattern: string, at: string, fail: Fail): void {
  if (pattern.length > maxPatternLength) throw fail(at, `a pattern may have ${maxPatternLength} characters`)
  if (!isRegExp(pattern)) throw fail(at, 'is not a regular expression')
}

/** Parses only: nothing is matched against it here. */
function isRegExp(pattern: string): boolean {
  try {
    // recheck: only parsed, never matched against anything.
    return RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function isInside(root: object, reference: string): boolean {
  if (reference === '#') return true
  if (!/^#(\/[^%]*)$/.test(reference)) return false
  const target = Pointer.Get(root, reference.slice(1))
  return typeof target === 'boolean' || (typeof target === 'object' && target !== null)
}
