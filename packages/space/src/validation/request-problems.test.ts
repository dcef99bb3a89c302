import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readableLength } from '@atrium/contract/readable-length'
import * as schemas from '@atrium/contract/space-schemas'
import fc from 'fast-check'
import type { TObject } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { isFields, maxNamed, type Fields, type Problem } from './find-problem.ts'
import * as problems from './request-problems.ts'

const requests: [TObject, (fields: Fields) => Problem][] = [
  [schemas.SpacePoll, problems.findPollProblem],
  [schemas.SpaceTurn, problems.findTurnProblem],
  [schemas.SpaceSealed, problems.findSealedProblem],
  [schemas.SpaceAttest, problems.findAttestProblem],
  [schemas.SpaceCreate, problems.findCreateProblem],
  [schemas.SpaceAdmit, problems.findAdmitProblem],
  [schemas.SpaceExpel, problems.findExpelProblem],
  [schemas.SpaceRename, problems.findRenameProblem],
  [schemas.SpaceRemove, problems.findRemoveProblem],
  [schemas.SpaceMake, problems.findMakeProblem],
  [schemas.SpaceRead, problems.findReadProblem],
  [schemas.SpaceAppend, problems.findAppendProblem],
]

// TypeBox stops after 8 errors. Eight undeclared names in a message are 8 errors before the one that names the rule.
Settings.Set({ maxErrors: 100 })

/** What TypeBox says first about a request, whose idToken and spk may be anything. */
function typeBoxProblem({ properties, ...schema }: TObject): (fields: Fields) => Problem {
  const later = Object.fromEntries(['idToken', 'spk'].filter((name) => name in properties).map((name) => [name, {}]))
  const validator = Compile({ ...schema, properties: { ...properties, ...later } } as TObject)
  return (fields) => {
    if (validator.Check(fields)) return undefined
    const first = validator.Errors(fields).find(({ keyword }) => keyword !== 'boolean')!
    const { additionalProperties = [] } = first.params as { additionalProperties?: string[] }
    return `${[first.instancePath, ...additionalProperties.slice(0, maxNamed)].join(' ').trim()} ${readableLength(first.message)}`.trim()
  }
}

/** Values of a schema, mostly of its form, and some on its edges. */
function arbitraryOf(schema: Record<string, any>): fc.Arbitrary<unknown> {
  const { type, properties, required = [], enum: values, pattern, minLength = 0, maxLength = 40, minimum, maximum } = schema
  if ('const' in schema) return fc.constant(schema['const'])
  if (values) return fc.constantFrom(...values)
  if (type === 'object') {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, arbitraryOf(value as object)]))
    return fc.record(fields, { requiredKeys: required })
  }
  if (type === 'array') return fc.array(arbitraryOf(schema['items']), { maxLength: 3 })
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') {
    const edges = [minimum ?? 0, (minimum ?? 0) - 1, maximum ?? 1e15, (maximum ?? 1e15) + 1]
    return fc.oneof(
      { weight: 10, arbitrary: fc.integer({ min: minimum ?? 0, max: maximum ?? 1e9 }) },
      fc.constantFrom(...edges, 0.5),
    )
  }
  if (schema['format'] === 'email')
    return fc.oneof({ weight: 20, arbitrary: fc.emailAddress({ size: 'small' }) }, fc.constantFrom(...emails))
  if (pattern) {
    const matching = fc.stringMatching(new RegExp(pattern, 'u')).map((text) => text.padEnd(minLength, 'x'))
    return fc.oneof({ weight: 20, arbitrary: matching }, fc.string())
  }
  const edges = [minLength, minLength - 1, maxLength, maxLength + 1].filter((length) => length >= 0)
  const repeated = fc
    .tuple(fc.constantFrom('x', '🦊', 'é', 'x🦊'), fc.constantFrom(...edges))
    .map(([text, count]) => text.repeat(count))
  const short = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) })
  return fc.oneof({ weight: 20, arbitrary: short }, repeated)
}

const emails = [
  'Ada@Example.COM',
  '"quoted local"@example.com',
  '"a\\"b"@example.com',
  'a@[127.0.0.1]',
  'a@[IPv6:::1]',
  'a@[256.0.0.1]',
  'a..b@example.com',
  '.a@example.com',
  'a@-example.com',
  `a@${'x'.repeat(64)}.com`,
  `a@${'x.'.repeat(130)}com`,
  'ada@exa mple.com',
  'ada',
  'ſ@example.com',
  'K@example.com',
  'ada@example.com\n',
]

const anything = fc.jsonValue({ maxDepth: 2 })
const odd = fc.oneof(
  anything,
  fc.constantFrom('', 'x', '🦊', 'x'.repeat(22), 'é'.repeat(40), -1, 0, 1.5, 1e21, [], {}, [1], null, true),
)

interface Change {
  what: 'none' | 'remove' | 'replace' | 'add' | 'inside' | 'extend'
  at: number
  name: string
  value: unknown
}

const changes = fc.array(
  fc.record<Change>({
    what: fc.constantFrom('none', 'remove', 'replace', 'add', 'inside', 'extend'),
    at: fc.nat(20),
    name: fc
      .oneof(fc.string(), fc.constantFrom('OP', 'text', 'op ', 'op\n', 'emails', 'message'))
      .filter((s) => s !== '__proto__'),
    value: odd,
  }),
  { maxLength: 2 },
)

function mutate(value: unknown, { what, at, name, value: other }: Change): unknown {
  if (Array.isArray(value)) {
    if (what === 'extend') return Array.from({ length: [100, 101, 1_000, 1_001][at % 4]! }, () => value[0] ?? other)
    return value.length > 0 ? value.with(at % value.length, other) : [other]
  }
  if (!isFields(value)) return other
  const names = Object.keys(value)
  const chosen = names[at % Math.max(names.length, 1)]
  if (what === 'add' || chosen === undefined) return { ...value, [name]: other }
  if (what === 'remove') return Object.fromEntries(Object.entries(value).filter(([key]) => key !== chosen))
  if (what === 'replace') return { ...value, [chosen]: other }
  // Into what has an inside, if there is one.
  const deep = names.filter((key) => typeof value[key] === 'object' && value[key] !== null)
  const inner = deep[at % Math.max(deep.length, 1)] ?? chosen
  return what === 'none'
    ? value
    : { ...value, [inner]: mutate(value[inner], { what: what === 'extend' ? what : 'add', at, name, value: other }) }
}

for (const [schema, findProblem] of requests) {
  const { op } = schema.properties as unknown as Record<string, { const: string }>
  test(`op ${op!.const}: a request has the verdict and the message that TypeBox gives it`, () => {
    const expected = typeBoxProblem(schema)
    const seen = { valid: 0, invalid: 0 }
    fc.assert(
      fc.property(arbitraryOf(schema), changes, (valid, list) => {
        const request = list.reduce(mutate, valid)
        fc.pre(isFields(request))
        const problem = findProblem(request)
        assert.equal(problem, expected(request))
        seen[problem === undefined ? 'valid' : 'invalid']++
      }),
      { numRuns: 10_000 },
    )
    assert.ok(seen.valid > 1_000 && seen.invalid > 1_000, JSON.stringify(seen))
  })
}

test('eight undeclared names in a message get the verdict of TypeBox', () => {
  const undeclared = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`name${i}`, true]))
  const request = { op: 'turn', room: 'r', mk: 'x'.repeat(22), message: { ...undeclared, text: [] } }
  assert.equal(problems.findTurnProblem(request), typeBoxProblem(schemas.SpaceTurn)(request))
})

test('an error repeats seven undeclared names, however many there are', () => {
  const undeclared = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`name${i}`, true]))
  const problem = problems.findSealedProblem({ op: 'sealed', room: 'r', ...undeclared })
  assert.equal(problem, 'name0 name1 name2 name3 name4 name5 name6 must not have additional properties')
})
