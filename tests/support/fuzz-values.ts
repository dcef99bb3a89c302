import { generateKeyPairSync } from 'node:crypto'
import fc, { type Arbitrary } from 'fast-check'
import type { JsonSchema } from './openapi-operations.ts'

const word = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => text.isWellFormed() && !text.includes('\0'))

/** Names of fields, including those that the share page reads. */
const metadataKey = fc.oneof(fc.constantFrom('share_title', 'share_description', 'theme', 'a', 'constructor', 'toString'), word)

/** JSON that the API accepts: without integers above 2^53, NUL, lone surrogates and __proto__. */
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
  .map(
    (value) =>
      JSON.parse(JSON.stringify(value), (_, one: unknown) =>
        Number.isInteger(one) && !Number.isSafeInteger(one) ? 0.5 : one,
      ) as unknown,
  )
  .filter((value) => !/__proto__|\\u0000|\\ud[89a-f]/.test(JSON.stringify(value)))

/** One that opens most of the rooms, and one that opens none. */
const roomKeys = [
  'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA',
  'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA',
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
]

/** A schema cannot express which points are on the curve. */
const recipients = (['P-256', 'X25519'] as const).map((curve) =>
  (curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: curve }) : generateKeyPairSync('x25519')).publicKey.export({
    format: 'jwk',
  }),
)

/** JSON Schemas, which a schema cannot distinguish from other objects. */
const toolParameters = [
  { type: 'object' },
  { type: 'object', properties: { lamp: { type: 'integer', minimum: 1 } }, required: ['lamp'], additionalProperties: false },
]

/** What breaks things elsewhere. */
export const nasty = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  -0,
  1.5,
  1e308,
  5e-324,
  2 ** 53,
  ...nastyTexts(),
  [],
  {},
  [[[[]]]],
  { a: { b: {} } },
)

function nastyTexts(): unknown[] {
  const characters = ['', ' ', '\0', '\ud800', '\udc00\ud800', '\u202e\u2066', '\ufeff', '\u{1f3f4}\u{e0067}\u{e007f}']
  const words = [
    "'; drop table items; --",
    '<script>alert(1)</script>',
    '${7*7}',
    '../../etc/passwd',
    '%00',
    '1e400',
    'NaN',
    '2026-02-30T00:00:00Z',
  ]
  const long = ['x'.repeat(5_000), 'x'.repeat(300_000), 'Z\u0351\u036b\u0343'.repeat(20)]
  return [...characters, ...words, ...long, JSON.parse('{"__proto__":{"a":1}}')]
}

/** Values that fit the schema. */
export function fitting(schema: JsonSchema, name = ''): Arbitrary<unknown> {
  if (name === 'recipient' || name === 'recovery_key') return fc.constantFrom(...recipients)
  if (name === 'spk') return fc.oneof(fc.constant(recipients[0]), object(schema))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (name === 'room' && schema.type === 'string') return fc.nat(20).map((n) => `fuzz-room-${n}`)
  if (name === 'amount') return fc.integer({ min: 1, max: 20 })
  if (name === 'mk') return fc.constantFrom(...roomKeys)
  if (name === 'parameters') return fc.constantFrom<unknown>(...toolParameters)
  // A held poll is valid, but delays the other requests.
  if (name === 'waitMs') return fc.nat(50)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return fc.oneof(...branches.map((one) => fitting(one)))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => fitting({ ...schema, type }, name)))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) })
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true })
    case 'string':
      return text(schema, name)
    case 'array':
      return fc.uniqueArray(fitting(schema.items ?? {}, name), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
        selector: (value) => JSON.stringify(value),
      })
    case 'object':
      return object(schema)
    default:
      return json
  }
}

function object({ properties, required = [], minProperties = 0 }: JsonSchema): Arbitrary<unknown> {
  if (!properties) return fc.dictionary(metadataKey, json, { maxKeys: 5, noNullPrototype: true })
  const record = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, fitting(schema, name)]))
  return fc
    .record(record, { requiredKeys: required, noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= minProperties)
}

function text({ pattern, format, minLength = 0, maxLength = 40 }: JsonSchema, name: string): Arbitrary<string> {
  if (name === 'invite_code') return reference('invite')
  if (name === 'wallet_code' || name === 'coupon') return fc.oneof(reference('wallet'), reference('coupon'))
  if (name === 'license_key') return reference('license')
  if (name === 'summon_key') return reference('summon')
  if (name === 'agent_id') return reference('launchable')
  if (name === 'epoch') return reference('epoch')
  // Atrium calls some of these. Names under .example reach nobody.
  if (name === 'url') return fc.oneof(reference('share'), fc.webUrl({ validSchemes: ['https'] }).map(underExample))
  if (name === 'cursor') return reference('cursor')
  if (pattern?.startsWith('^key_')) return reference('key')
  // Odd, and with its first bit set, like a modulus or an exponent.
  if (name === 'n') return fc.uint8Array({ minLength: 256, maxLength: 256 }).map(toOddInteger)
  if (name === 'e') return fc.uint8Array({ minLength: 2, maxLength: 6 }).map(toOddInteger)
  if (pattern === '^https?://') return fc.webUrl({ validSchemes: ['https'] })
  if (pattern) return fc.stringMatching(new RegExp(pattern, 'u'))
  if (format === 'email') return fc.nat(50).map((n) => `person${n}@example.com`)
  if (format === 'date-time')
    return fc.integer({ min: 1, max: 1_000 }).map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  const size = { minLength, maxLength: Math.min(maxLength, 40) }
  return fc
    .string({ unit: 'grapheme', ...size })
    .filter((text) => text.isWellFormed() && text.length >= minLength && text.length <= maxLength && !text.includes('\0'))
}

function underExample(url: string): string {
  const { pathname, search, hash, host } = new URL(url)
  return `https://${host.replace(/(:|$)/, '.example$1')}${pathname}${search}${hash}`
}

function toOddInteger(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .fill(bytes[0]! | 0x80, 0, 1)
    .fill(bytes.at(-1)! | 1, bytes.length - 1)
    .toString('base64url')
}

const reference = (kind: string) => fc.nat(1_000).map((n) => `@${kind}:${n}`)

/** Values that may fit the schema, and usually do not. */
export function bent(schema: JsonSchema): Arbitrary<string> {
  const value = fc.oneof(
    { weight: 2, arbitrary: nasty },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }) },
  )
  const whole = value.map((value) => JSON.stringify(value))
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return fc.oneof(...branches.map(bent))
  if (!schema.properties) return whole
  const name = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...Object.keys(schema.properties)) },
    { weight: 1, arbitrary: fc.string() },
  )
  const changed = fc
    .tuple(object(schema), name, value)
    .map(([good, name, value]) => JSON.stringify({ ...(good as object), [name]: value }))
  const without = fc.tuple(object(schema), name).map(([good, name]) => JSON.stringify({ ...(good as object), [name]: undefined }))
  const cut = fc.tuple(object(schema), fc.nat(100)).map(([good, at]) => JSON.stringify(good).slice(0, at))
  const twice = object(schema).map((good) => JSON.stringify(good).replace(/^\{("[^"]*":)/, '{$1null,$1'))
  return fc.oneof(
    { weight: 4, arbitrary: changed },
    { weight: 2, arbitrary: without },
    whole,
    cut,
    twice,
    fc.string({ unit: 'binary' }),
  )
}
