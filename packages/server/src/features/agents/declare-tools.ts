import type { Static } from 'typebox'
import type { ToolDecl } from '@atrium/contract/agent-schemas'
import { shortPath } from '@atrium/contract/strict-json'
import { Compile, Errors, Meta, Pointer } from 'typebox/schema'
import { invalid, type ApiError } from '#errors/api-error.ts'
import { secretKey, toolKey } from './agent-secrets.ts'
import type { Tool } from './agent.ts'

interface Declared {
  tools: Tool[]
  /** By secretKey. */
  secrets: Map<string, string>
}

/** Returns the address in its stored form. Throws 400 where this installation may not call it. */
type CheckAddress = (text: string, path: string) => string

/**
 * Splits declared tools into their public part and their secrets. A tool that is declared again at the same origin
 * without a secret keeps the one that it has.
 */
export function declareTools(
  declarations: Static<typeof ToolDecl>[],
  secretsBefore: ReadonlyMap<string, string>,
  checkAddress: CheckAddress,
): Declared {
  const declared: Declared = { tools: [], secrets: new Map() }
  const taken = new Set<string>()
  for (const [i, declaration] of declarations.entries()) {
    const path = `/tools/${i}`
    const shown = publicPart(declaration, path, checkAddress)
    const key = toolKey(shown)
    if (taken.has(key)) throw invalid(path, 'another tool has the same name or MCP address')
    taken.add(key)
    // null removes the secret.
    const secret = declaration.secret === undefined ? secretsBefore.get(secretKey(shown)) : declaration.secret
    if (typeof secret === 'string') declared.secrets.set(secretKey(shown), secret)
    declared.tools.push({ ...shown, has_secret: typeof secret === 'string' })
  }
  return declared
}

function publicPart(declaration: Static<typeof ToolDecl>, path: string, checkAddress: CheckAddress): Omit<Tool, 'has_secret'> {
  if ('mcp' in declaration) return { mcp: checkAddress(declaration.mcp, `${path}/mcp`) }
  const { name, description, parameters, url } = declaration
  assertToolParameters(parameters, `${path}/parameters`)
  return { name, description, parameters, url: checkAddress(url, `${path}/url`) }
}

const draft = 'https://json-schema.org/draft/2020-12/schema'
/** Generators still name the older draft; the keywords that we accept mean the same in both. */
const drafts = new Set<unknown>([draft, 'http://json-schema.org/draft-07/schema#'])

const maxBytes = 16 * 1024
const maxDepth = 24
const maxPatternLength = 200

/**
 * Each of these gives a schema a second address, so that a reference could lead to where assertBounded does not look.
 */
const refused = new Set(['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'])

// Compiled on first use, because it takes 30 ms.
let metaSchema: ReturnType<typeof Compile> | undefined

type Fail = (at: string, message: string) => ApiError

/**
 * Asserts that a tool's parameters are the JSON Schema of an object, of bounded size and depth, without external
 * references, and with short patterns that compile. Throws 400 with the path. ports/model/tools/argument-check.ts
 * bounds the time of a check against the schema.
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

/** Visits every value, also those that are no schemas: the same rules hold inside an example. */
function assertBounded(root: object, value: unknown, at: string, fail: Fail): void {
  if (typeof value !== 'object' || value === null) return
  if (at.split('/').length > maxDepth) throw fail(at, 'nested too deeply')
  for (const [name, child] of Object.entries(value)) {
    const childAt = `${at}/${name}`
    if (typeof child !== 'string') {
      if (name === 'patternProperties') for (const pattern of Object.keys(child ?? {})) assertPattern(pattern, childAt, fail)
      assertBounded(root, child, childAt, fail)
    } else if (name === 'pattern') assertPattern(child, childAt, fail)
    else if (name === '$ref' && !isInside(root, child))
      throw fail(childAt, 'must point into these parameters, such as #/$defs/name')
    else if (refused.has(name)) throw fail(childAt, 'is not supported')
  }
}

function assertPattern(pattern: string, at: string, fail: Fail): void {
  if (pattern.length > maxPatternLength) throw fail(at, `a pattern may have ${maxPatternLength} characters`)
  if (!isRegExp(pattern)) throw fail(at, 'is not a regular expression')
}

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
