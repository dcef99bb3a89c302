import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseSync } from 'oxc-parser'
import { LANGUAGES } from './language.ts'

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

const nodesIn = (value: unknown): Node[] => [value].flat().filter(isNode)

function* walk(node: Node): Generator<Node> {
  yield node
  for (const child of Object.values(node)) for (const inner of nodesIn(child)) yield* walk(inner)
}

const PARTS = ['', '-agents', '-failures', '-protection', '-sealed', '-tools']

function parse(language: string): Node[] {
  return PARTS.map((part) => {
    const source = readFileSync(new URL(`${language}${part}.ts`, import.meta.url), 'utf8')
    const { program, errors } = parseSync('catalogue.ts', source)
    assert.deepEqual(errors, [])
    return program as unknown as Node
  })
}

/** Each text by its path, with the names of its parameters: `agents.terms.stays(minutes)`. */
function signatures(programs: readonly Node[]): string[] {
  const found: string[] = []
  const read = (value: Node, path: string): void => {
    if (value.type === 'ObjectExpression') {
      for (const property of nodesIn(value['properties'])) {
        const name = String((property['key'] as Node)['name'])
        if (property['shorthand'] !== true) read(property['value'] as Node, path === '' ? name : `${path}.${name}`)
      }
    } else if (value.type === 'ArrowFunctionExpression') {
      found.push(
        `${path}(${nodesIn(value['params'])
          .map(({ name }) => String(name))
          .join(', ')})`,
      )
    } else {
      found.push(path)
    }
  }
  for (const [i, program] of programs.entries()) {
    for (const statement of nodesIn(program['body'])) {
      if (statement.type !== 'ExportNamedDeclaration') continue
      const [declarator] = nodesIn((statement['declaration'] as Node)['declarations'])
      read(declarator!['init'] as Node, PARTS[i]!.slice(1))
    }
  }
  return found.sort()
}

/** Functions that do not use all of their parameters. */
function forgetful(programs: readonly Node[]): string[] {
  return programs.flatMap((program) =>
    [...walk(program)]
      .filter(({ type }) => type === 'ArrowFunctionExpression')
      .flatMap((node) => {
        const used = new Set([...walk(node['body'] as Node)].map(({ name }) => name))
        return nodesIn(node['params']).flatMap(({ name }) => (used.has(name) ? [] : [String(name)]))
      }),
  )
}

function pluralForms(programs: readonly Node[]): string[][] {
  return programs.flatMap((program) =>
    [...walk(program)]
      .filter((node) => node.type === 'CallExpression' && (node['callee'] as Node)['name'] === 'plural')
      .map((node) => {
        const forms = nodesIn(node['arguments'])[1]!
        return nodesIn(forms['properties']).map(({ key }) => String((key as Node)['name']))
      }),
  )
}

const english = signatures(parse('en'))

for (const language of Object.keys(LANGUAGES)) {
  test(`the catalogue has every text, every parameter and every plural form: ${language}`, () => {
    const programs = parse(language)
    assert.ok(english.length > 250)
    assert.deepEqual(signatures(programs), english)
    assert.deepEqual(forgetful(programs), [])
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted()
    const forms = pluralForms(programs)
    assert.ok(forms.length > 10)
    for (const form of forms) assert.deepEqual(form.toSorted(), categories)
  })
}
