/** Origins that the page may connect to besides its own. */
export type ConnectOrigins = readonly string[]

type Directives = ReadonlyMap<string, readonly string[]>

/** The directives of one policy; undefined when the header contains several policies, or a directive twice. */
export function parsePolicy(header: string): Directives | undefined {
  if (header.includes(',')) return undefined
  const directives = new Map<string, readonly string[]>()
  for (const text of header.split(';')) {
    const [name, ...sources] = text.trim().split(/[\t\n\f\r ]+/)
    if (!name) continue
    if (directives.has(name.toLowerCase())) return undefined
    directives.set(name.toLowerCase(), sources)
  }
  return directives
}

const HASH = /^'sha256-[A-Za-z0-9+/]{43}='$/

/** Required directives, each with its allowed values. */
const FIXED: readonly [string, readonly string[]][] = [
  ['default-src', ["'none'"]],
  ['form-action', ["'none'"]],
  ['object-src', ["'none'"]],
  ['base-uri', ["'none'"]],
  ['frame-ancestors', ["'self'", "'none'"]],
  ['require-trusted-types-for', ["'script'"]],
]

const HARMLESS = new Set(['upgrade-insecure-requests', 'sandbox', 'trusted-types'])
const SCRIPTS = new Set(['script-src', 'script-src-elem', 'script-src-attr', 'worker-src'])

/** The violations of the contract's policy (part 4, /space), as text. A stricter policy is accepted. */
export function findPolicyProblems(directives: Directives, own: string, connect: ConnectOrigins): string[] {
  const problems: string[] = []
  for (const [name, values] of FIXED) {
    const [value, ...more] = directives.get(name) ?? []
    if (value === undefined) problems.push(`${name} is missing`)
    else if (more.length > 0 || !values.includes(value)) problems.push(`${name} must be ${values[0]}`)
  }
  for (const name of ['script-src', 'connect-src']) if (!directives.has(name)) problems.push(`${name} is missing`)
  const fixed = new Set(FIXED.map(([name]) => name))
  for (const [name, sources] of directives) {
    if (fixed.has(name) || HARMLESS.has(name)) continue
    const mayHold = allowedIn(name, own, connect)
    if (!mayHold) problems.push(`${name} is not a known directive`)
    else for (const source of sources) if (!mayHold(source)) problems.push(`${name} allows ${source}`)
  }
  return problems
}

function allowedIn(name: string, own: string, connect: ConnectOrigins): ((source: string) => boolean) | undefined {
  const isOwn = (source: string) => source === "'self'" || source === "'none'"
  if (SCRIPTS.has(name)) return (source) => isOwn(source) || source === "'wasm-unsafe-eval'" || HASH.test(source)
  if (name === 'connect-src') return (source) => isOwn(source) || source === 'blob:' || source === own || connect.includes(source)
  if (/^[a-z]+-src(?:-elem|-attr)?$/.test(name)) {
    return (source) => isOwn(source) || source === 'blob:' || source === 'data:' || HASH.test(source)
  }
  return undefined
}

/** The hashes of inline scripts that the policy allows, base64. */
export function inlineHashes(directives: Directives): string[] {
  const sources = [...SCRIPTS].flatMap((name) => directives.get(name) ?? [])
  return sources.filter((source) => HASH.test(source)).map((source) => source.slice("'sha256-".length, -1))
}
