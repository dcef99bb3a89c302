import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const readme = fileURLToPath(new URL('../../packages/client/README.md', import.meta.url))

interface Example {
  /** The heading of the section that contains it. */
  heading: string
  code: string
  /** Whether it is for a server alone. */
  isNode: boolean
}

/** The TypeScript blocks of the client's README: ```ts runs anywhere, ```ts node only on a server. */
export function readExamples(): Example[] {
  const text = readFileSync(readme, 'utf8')
  return [...text.matchAll(/^```ts( node)?\n([\s\S]*?)^```$/gm)].map(({ 1: node, 2: code, index }) => {
    const heading = [...text.slice(0, index).matchAll(/^#+ (.*)$/gm)].at(-1)![1]!
    return { heading, code: code!, isNode: node !== undefined }
  })
}

/**
 * Joins the examples into one program. Declarations of the first example are visible in all others; those of any
 * other example only in itself. `console.log(x) // y` also checks that x prints y. `given` are the names that a
 * reader has, with their types, as properties of globalThis.readme.
 */
export function programOf(examples: Example[], given: Record<string, string>): string {
  const imports = new Map<string, Set<string>>()
  const keep = (names: string, from: string) => {
    const known = imports.get(from) ?? new Set<string>()
    for (const name of names.split(',')) known.add(name.trim())
    imports.set(from, known)
    return ''
  }
  const bodies = examples.map(({ heading, code }, i) => {
    const body = code.replace(/^import \{(.*)\} from ('.*').*$/gm, (_, names: string, from: string) => keep(names, from))
    const checked = body.replace(
      /console\.log\((.*)\) \/\/ (.+)$/gm,
      (_, value, expected) => `readme.check(${value}, ${JSON.stringify(expected)})`,
    )
    return i === 0 ? checked : `readme.begin(${JSON.stringify(heading)})\n{\n${checked}\n}`
  })
  const names = Object.entries(given).map(([name, type]) => `${name}: ${type}`)
  const type = `{ begin(heading: string): void; check(value: unknown, expected: string): void; ${names.join('; ')} }`
  return [
    ...Array.from(imports, ([from, names]) => `import { ${[...names].join(', ')} } from ${from}`),
    `const readme = (globalThis as unknown as { readme: ${type} }).readme`,
    `const { ${Object.keys(given).join(', ')} } = readme`,
    ...bodies,
    '',
  ].join('\n')
}
