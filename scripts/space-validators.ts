/**
 * Generates the functions that check the requests of the Space endpoint from their schemas. The certified bundle has
 * these instead of TypeBox: people can read them, and nothing in the bundle generates code at run time. --check:
 * writes nothing, and fails if the file is out of date.
 */
import { format } from 'oxfmt'
import type { TObject } from 'typebox'
import * as schemas from '../packages/contract/src/space-schemas.ts'
import { writeOrCheck } from './write-or-check.ts'

type Schema = Readonly<Record<string, unknown>>

const path = 'packages/space/src/validation/request-problems.ts'

const requests: Readonly<Record<string, TObject>> = {
  Poll: schemas.SpacePoll,
  Turn: schemas.SpaceTurn,
  Sealed: schemas.SpaceSealed,
  Attest: schemas.SpaceAttest,
  Create: schemas.SpaceCreate,
  Admit: schemas.SpaceAdmit,
  Expel: schemas.SpaceExpel,
  Rename: schemas.SpaceRename,
  Remove: schemas.SpaceRemove,
  Make: schemas.SpaceMake,
  Read: schemas.SpaceRead,
  Append: schemas.SpaceAppend,
}

/**
 * Any value is accepted for token and device key. Part 5 of the contract rejects them after the room was found, and
 * not as an error of the request's form.
 */
const checkedLater = new Set(['idToken', 'spk'])

const imports = new Set<string>()
/** The rules of strings, by their constant, which is named after the field. */
const rules = new Map<string, string>()
const functions: string[] = []

for (const [name, schema] of Object.entries(requests)) writeFunction(name, { ...schema }, true)
const text = [
  '// Written by scripts/space-validators.ts out of packages/contract/src/space-schemas.ts.',
  `import { ${[...imports].sort().join(', ')}, type Fields, type Problem, type TextRule } from './find-problem.ts'`,
  '',
  ...[...rules].map(([name, rule]) => `const ${name}: TextRule = ${rule}`),
  '',
  ...functions,
].join('\n')
const formatted = await format(path, text, { printWidth: 130, semi: false, singleQuote: true, trailingComma: 'all' })
await writeOrCheck({ files: new Map([[path, formatted.code]]), command: 'node scripts/space-validators.ts' })

/** One function per object: of a request, or of an object within it. */
function writeFunction(name: string, schema: Schema, isRequest: boolean): void {
  assertKeywords(schema, 'properties', 'required', 'additionalProperties')
  if (schema['type'] !== 'object' || schema['additionalProperties'] !== false) throw new Error(`${name} is not a closed object`)
  const properties = Object.entries(schema['properties'] as Record<string, Schema>)
  const required = schema['required'] as readonly string[]
  const checked = properties.filter(([property]) => !checkedLater.has(property))
  const optional = properties.map(([property]) => property).filter((property) => !required.includes(property))
  // In the call, a long list would take a line for each argument.
  const isLong = optional.length > 6
  const parentPath = isRequest ? '' : 'path'
  const checks = [
    `${use('findNameProblem')}(fields, ${isRequest ? "''" : parentPath}, ${literal(required)}, ${isLong ? 'optional' : literal(optional)})`,
    ...checked.map(([property, value]) => writeCheck(property, value, isRequest ? `'/${property}'` : `\`\${path}/${property}\``)),
  ]
  const [parameters, guard] = isRequest
    ? ['fields: Fields', '']
    : [
        'fields: unknown, path: string',
        `if (fields === undefined) return undefined\nif (!${use('isFields')}(fields)) return \`\${path} must be object\`\n`,
      ]
  functions.push(
    `${isRequest ? 'export ' : ''}function find${name}Problem(${parameters}): Problem {`,
    `${guard}const { ${checked.map(([property]) => property).join(', ')} } = fields`,
    ...(isLong ? [`const optional = ${literal(optional)}`] : []),
    `return ${checks.join(' ??\n')}`,
    '}',
    '',
  )
}

function writeCheck(name: string, schema: Schema, at: string): string {
  switch (schema['type']) {
    case 'string': {
      if ('const' in schema || 'enum' in schema) {
        assertKeywords(schema, 'const', 'enum')
        return `${use('findChoiceProblem')}(${name}, ${at}, ${literal(schema['enum'] ?? [schema['const']])})`
      }
      return `${use('findTextProblem')}(${name}, ${at}, ${writeRule(name, schema)})`
    }
    case 'integer': {
      assertKeywords(schema, 'minimum', 'maximum')
      const limits = [schema['minimum'] ?? -Infinity, schema['maximum']].filter((limit) => limit !== undefined)
      return `${use('findIntegerProblem')}(${[name, at, ...limits].join(', ')})`
    }
    case 'boolean':
      assertKeywords(schema)
      return `${use('findBooleanProblem')}(${name}, ${at})`
    case 'array': {
      assertKeywords(schema, 'items', 'maxItems')
      const items = schema['items'] as Schema
      return `${use('findTextsProblem')}(${name}, ${at}, ${String(schema['maxItems'] ?? Infinity)}, ${writeRule(name, items)})`
    }
    case 'object': {
      const title = name.charAt(0).toUpperCase() + name.slice(1)
      if (!functions.some((line) => line.startsWith(`function find${title}Problem(`))) writeFunction(title, schema, false)
      return `find${title}Problem(${name}, ${at})`
    }
    default:
      throw new Error(`${name}: no rule for type ${String(schema['type'])}`)
  }
}

/** The name of the constant with the rule of a string. */
function writeRule(name: string, schema: Schema): string {
  if (schema['type'] !== 'string') throw new Error(`${name} is not a text`)
  assertKeywords(schema, 'minLength', 'maxLength', 'format', 'pattern')
  const rule = ['minLength', 'maxLength', 'format', 'pattern'].flatMap((keyword) => {
    const value = schema[keyword]
    if (value === undefined) return []
    return [`${keyword}: ${keyword === 'pattern' ? `${new RegExp(String(value), 'u')}` : literal(value)}`]
  })
  const written = `{ ${rule.join(', ')} }`
  const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  let constant = `${field}Rule`
  // Another object may have a field of the same name with another rule.
  for (let n = 2; (rules.get(constant) ?? written) !== written; n++) constant = `${field}Rule${n}`
  rules.set(constant, written)
  return constant
}

/** Fails on a keyword without a rule here, because its check would be lost. */
function assertKeywords(schema: Schema, ...known: string[]): void {
  const allowed = new Set(['type', 'description', ...known])
  for (const keyword of Object.keys(schema)) if (!allowed.has(keyword)) throw new Error(`no rule for keyword ${keyword}`)
}

function use(name: string): string {
  imports.add(name)
  return name
}

function literal(value: unknown): string {
  return JSON.stringify(value)
}
