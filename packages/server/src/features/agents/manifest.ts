import type { AgentPatch, ToolDecl } from '@atrium/contract/agent-schemas'
import { parseDeviceKey } from '@atrium/identity/device-key'
import { shortPath } from '@atrium/contract/strict-json'
import type { Static } from 'typebox'
import { Compile, Errors, Meta, Pointer } from '#libraries/typebox-schema.js'
import { type ApiError, invalid } from '#errors/api-error.ts'
import { assertHeaderText } from '#http/header-text.ts'
import type { Context } from '#features/context.ts'
import type { Egress } from '#ports/egress/egress.ts'
import { openToolSecrets, sealToolSecrets, secretKey, toolKey } from './agent-secrets.ts'
import type { Manifest, Tool } from './agent.ts'

/** The defaults of a registration. */
export const blankManifest: Manifest = {
  name: '',
  description: '',
  instructions: '',
  model: null,
  endpoint: null,
  encryptionKey: null,
  tools: [],
  toolSecrets: null,
  signingSecret: null,
  priceCredits: 0,
  creditsPer1kTokens: 0,
  creditsPerToolCall: 0,
  maxMinutes: 1,
  greeting: null,
  avatarUrl: null,
}

const notMetered = 'the use of an agent with an endpoint cannot be metered: must be 0'

type Before = Manifest & { tenantId: string; id: string }

/**
 * The manifest with the change applied. An absent field stays as it is; null removes an optional one. Throws 400 where
 * this installation may not call an address, a tool's parameters are no JSON Schema, or the agent would have both a
 * model and an endpoint.
 */
export function changedManifest(ctx: Context, before: Before, change: Static<typeof AgentPatch>): Manifest {
  const { model = before.model, greeting = before.greeting } = change
  const address = (text: string, path: string) => checkedAddress(ctx.egress, text, path)
  const optionalAddress = (text: string | null | undefined, path: string, old: string | null) =>
    typeof text === 'string' ? address(text, path) : text === null ? null : old
  const endpoint = optionalAddress(change.endpoint, '/endpoint', before.endpoint)
  // The platform runs an agent with a model; one with an endpoint runs elsewhere.
  if (model && endpoint) throw invalid('/endpoint', 'an agent has a model or an endpoint, not both')
  const creditsPer1kTokens = change.credits_per_1k_tokens ?? before.creditsPer1kTokens
  const creditsPerToolCall = change.credits_per_tool_call ?? before.creditsPerToolCall
  // What a remote agent uses is between its owner and its providers: nothing of it passes through here.
  if (endpoint && creditsPer1kTokens > 0) throw invalid('/credits_per_1k_tokens', notMetered)
  if (endpoint && creditsPerToolCall > 0) throw invalid('/credits_per_tool_call', notMetered)
  return {
    name: change.name ?? before.name,
    description: change.description ?? before.description,
    instructions: change.instructions ?? before.instructions,
    model,
    endpoint,
    encryptionKey: changedEncryptionKey(before, change, endpoint),
    ...changedTools(ctx, before, change.tools, address),
    priceCredits: change.price_credits ?? before.priceCredits,
    creditsPer1kTokens,
    creditsPerToolCall,
    maxMinutes: change.max_minutes ?? before.maxMinutes,
    greeting,
    signingSecret: before.signingSecret,
    avatarUrl: optionalAddress(change.avatar_url, '/avatar_url', before.avatarUrl),
  }
}

/** An agent without an endpoint has no key: it runs here, and the private part of the key would be elsewhere. */
function changedEncryptionKey(
  before: Before,
  { encryption_key: key }: Static<typeof AgentPatch>,
  endpoint: string | null,
): Manifest['encryptionKey'] {
  if (!key) return key === null || endpoint === null ? null : before.encryptionKey
  if (endpoint === null) throw invalid('/encryption_key', 'only a remote agent has one: give its `endpoint` too')
  if (!parseDeviceKey(key)) throw invalid('/encryption_key', 'is not the public part of an EC P-256 key')
  return key
}

function changedTools(
  { vault }: Context,
  before: Before,
  declarations: Static<typeof AgentPatch>['tools'],
  address: (text: string, path: string) => string,
): Pick<Manifest, 'tools' | 'toolSecrets'> {
  if (!declarations) return { tools: before.tools, toolSecrets: before.toolSecrets }
  const { tools, secrets } = declareTools(declarations, openToolSecrets(vault, before), address)
  return { tools, toolSecrets: sealToolSecrets(vault, before, secrets) }
}

/** The address in its normal form. Throws 400 where this installation may not call it. */
function checkedAddress(egress: Egress, text: string, path: string): string {
  const checked = egress.checkUrl(text)
  if (!checked.ok) throw invalid(path, checked.message)
  return checked.url.href
}

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
function declareTools(
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
    if (typeof declaration.secret === 'string') assertHeaderText(declaration.secret, `${path}/secret`)
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
