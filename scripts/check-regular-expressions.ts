// `npm run check:regex`: no regular expression of this project may take more than linear time over untrusted input.
// Takes a glob for other files. recheck (https://makenowjust-labs.github.io/recheck/) searches for an input that
// makes one slow, and this script prints the location.
import { glob, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Argument, type CallExpression, type NewExpression, parseSync, Visitor } from 'oxc-parser'
import { check } from 'recheck'

interface Found {
  readonly place: string
  readonly source: string
  readonly flags: string
}

const root = fileURLToPath(new URL('..', import.meta.url))
/** Code that runs in a service, in a browser or on a verifier's machine. Tests choose their own input. */
const FILES = process.argv[2] ?? 'packages/*/src/**/*.{ts,tsx}'
const TESTS = /\.test\.tsx?$|\/testing\//

const found: Found[] = []
const problems: string[] = []
for await (const path of glob(FILES, { cwd: root })) {
  if (!TESTS.test(path)) findExpressions(path, await readFile(resolve(root, path), 'utf8'))
}

const byText = Map.groupBy(found, ({ source, flags }) => `/${source}/${flags}`)
for (const [text, places] of byText) {
  const [first] = places
  const problem = first && (await findProblem(first))
  if (problem) problems.push(`${places.map(({ place }) => place).join(', ')}: ${text}\n  ${problem}`)
}
for (const problem of problems) console.error(problem)
console.log(`${found.length} regular expressions, ${problems.length} that may be slow`)
process.exitCode = problems.length > 0 || found.length === 0 ? 1 : 0

function findExpressions(path: string, text: string): void {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error) throw new Error(`${path}: ${error.message}`)
  const placeOf = (start: number) => `${path}:${text.slice(0, start).split('\n').length}`
  const onCall = (call: CallExpression | NewExpression) => {
    if (call.callee.type !== 'Identifier' || call.callee.name !== 'RegExp') return
    const [source, flags] = [call.arguments[0], call.arguments[1]].map(textOf)
    if (source !== undefined && flags !== undefined) found.push({ place: placeOf(call.start), source, flags })
    else if (!isExplained(text, call.start)) {
      problems.push(`${placeOf(call.start)}: put together at run time: a comment "recheck: …" above it must say why it is linear`)
    }
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node && !isExplained(text, node.start))
        found.push({ place: placeOf(node.start), source: node.regex.pattern, flags: node.regex.flags })
    },
    NewExpression: onCall,
    CallExpression: onCall,
  }).visit(program)
}

/**
 * Whether a comment on one of the two lines above explains why no input can make the expression slow. recheck only
 * knows that such an input might exist.
 */
function isExplained(text: string, start: number): boolean {
  const above = text.slice(0, start).split('\n').slice(-3, -1)
  return above.some((line) => /^ *\/\/ recheck: \S/.test(line))
}

/** The text of a constant argument; '' for a missing one. */
function textOf(argument: Argument | undefined): string | undefined {
  if (argument === undefined) return ''
  if (argument.type === 'Literal' && typeof argument.value === 'string') return argument.value
  const isConstant = argument.type === 'TemplateLiteral' && argument.expressions.length === 0
  return isConstant ? (argument.quasis[0]?.value.cooked ?? undefined) : undefined
}

async function findProblem({ source, flags }: Found): Promise<string | undefined> {
  const result = await check(source, flags, { timeout: 30_000, randomSeed: 1 })
  if (result.status === 'safe') return undefined
  if (result.status === 'unknown') return `recheck could not tell: ${result.error.kind}`
  return `${result.complexity.summary}, such as for ${result.attack.pattern.slice(0, 200)}`
}
