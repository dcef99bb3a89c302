import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

const app = fileURLToPath(new URL('..', import.meta.url))
const sources = globSync('**/*.{ts,tsx}', { cwd: app }).filter((file) => !/\.test\.ts$|^testing\/|^text\//.test(file))

/** The name of the product, an example address of a form, the prefixes of codes, and a command. */
const NO_WORDS = /^(?:Space|cpn_…|agt_…|openid email profile|[\w.]+@example\.com(?:\n[\w.]+@example\.com)*)$/
/** Attributes and properties that are read out or shown. Components call their texts `label`, `hint` and `title`. */
const SHOWN = new Set(['aria-label', 'aria-description', 'aria-roledescription', 'alt', 'placeholder', 'title', 'label', 'hint'])
/** Calls that take selectors. */
const SELECTING = /"name":"(?:querySelector(?:All)?|closest|matches|matchMedia|supports)"/
/** Calls that take selectors. */
const SAYING = /"name":"(?:announce|setProblem)"/
/** Attributes of names, and paths. */
const NOT_SHOWN = new Set(['class', 'viewBox', 'd', 'rel', 'style', 'href'])

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Finds texts in the reader's language that are literals in the source. */
function findLiterals(source: string): string[] {
  const found: string[] = []
  const report = (words: string, isShown: boolean) => {
    const plain = words.trim()
    // Outside the screen, one word is a name, and several words are a sentence.
    if (/\p{L}/u.test(plain) && (isShown || /\p{L}\S*\s+\S*\p{L}/u.test(plain)) && !NO_WORDS.test(plain)) found.push(plain)
  }
  const visit = (node: Node, isShown: boolean): void => {
    const { type } = node
    if (type === 'JSXElement' && JSON.stringify(node['openingElement']).includes('"name":"code"')) return
    if (type === 'CallExpression' && SELECTING.test(JSON.stringify(node['callee']))) return
    if (type === 'NewExpression' || type === 'ImportDeclaration' || type === 'TSLiteralType') return
    if (type === 'JSXText') report(String(node['value']), true)
    if (type === 'Literal' && typeof node['value'] === 'string') report(node['value'], isShown)
    if (type === 'TemplateElement') report((node['value'] as { cooked: string }).cooked, isShown)
    const isSaid = type === 'CallExpression' && SAYING.test(JSON.stringify(node['callee']))
    for (const [key, child] of Object.entries(node)) {
      if (key === 'key') continue
      // An expression does not show what it compares or looks up.
      const isAside = ['test', 'property', 'callee', 'arguments'].includes(key) || type === 'BinaryExpression'
      for (const inner of [child].flat())
        if (isNode(inner)) visitIn(node, inner, (isShown && !isAside) || (isSaid && key === 'arguments'))
    }
  }
  const visitIn = (parent: Node, node: Node, isShown: boolean): void => {
    if (node.type === 'JSXAttribute') {
      const name = String((node['name'] as Node)['name'])
      if (!NOT_SHOWN.has(name) && isNode(node['value'])) visit(node['value'], SHOWN.has(name))
    } else {
      visit(node, isShown || (node.type === 'JSXExpressionContainer' && parent.type.startsWith('JSX')))
    }
  }
  const { program, errors } = parseSync('screen.tsx', source)
  assert.deepEqual(errors, [])
  visit(program as unknown as Node, false)
  return found
}

test('the search finds text wherever a screen can show it', () => {
  const jsx = (inner: string) => findLiterals(`export const a = (x) => ${inner}`)
  assert.deepEqual(jsx('<p>Hello</p>'), ['Hello'])
  assert.deepEqual(jsx('<input placeholder="Name" class="wide field" />'), ['Name'])
  assert.deepEqual(jsx("<b aria-label={x ? 'On' : 'Off'} />"), ['On', 'Off'])
  assert.deepEqual(jsx("<p>{x > 1 ? `${x} new` : 'Newest'}</p>"), ['new', 'Newest'])
  assert.deepEqual(jsx("announce('Saved')"), ['Saved'])
  assert.deepEqual(jsx("({ words: 'You are offline.' })"), ['You are offline.'])
  assert.deepEqual(jsx("<p>{x === 'open' && t.room.anyone} · <code>--rebuild it</code></p>"), [])
})

/** Files with lists of words, or paths of a drawing, that are the same in every language. */
const DATA = new Set(['components/icon.tsx', 'components/arch.tsx', 'components/guest-name.ts', 'components/display-host.ts'])

test('every text is in the catalogue, and none in the source of a screen', () => {
  assert.ok(sources.length > 50)
  const found: string[] = []
  for (const file of sources) {
    if (!DATA.has(file)) found.push(...findLiterals(readFileSync(join(app, file), 'utf8')).map((words) => `${file}: ${words}`))
  }
  assert.deepEqual(found, [])
})
