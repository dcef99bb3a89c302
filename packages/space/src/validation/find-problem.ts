/**
 * The rules of request-problems.ts. Each returns the first problem of a value, without quoting the value, because it
 * may be the room key. Verdicts and messages are those of the API for the same JSON Schema; a test compares the two.
 */
export type Problem = string | undefined

export type Fields = Readonly<Record<string, unknown>>

export interface TextRule {
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: keyof typeof formats
  readonly pattern?: RegExp
}

const formats = {
  // RFC 5321 with quoted local parts and address literals, as TypeBox accepts it.
  email:
    /^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*|"(?:[^"\\]|\\[\x20-\x7e])*")@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[(?:IPv6:[a-f0-9:]+|(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3})\])$/i,
}

/** A request may contain any number of undeclared names; an error lists no more than these. */
export const maxNamed = 7

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the required names are present, and no others than these and the optional ones. */
export function findNameProblem(fields: Fields, path: string, required: readonly string[], optional: readonly string[]): Problem {
  const missing = required.filter((name) => !Object.hasOwn(fields, name))
  if (missing.length > 0) return `${path} must have required properties ${missing.join(', ')}`.trim()
  const undeclared = Object.keys(fields).filter((name) => !required.includes(name) && !optional.includes(name))
  if (undeclared.length === 0) return undefined
  return `${[path, ...undeclared.slice(0, maxNamed)].join(' ').trim()} must not have additional properties`.trim()
}

// From here on, undefined is an absent field: findNameProblem has reported a missing required one.

export function findTextProblem(value: unknown, path: string, { minLength = 0, maxLength, format, pattern }: TextRule): Problem {
  if (value === undefined) return undefined
  if (typeof value !== 'string') return `${path} must be string`
  if (hasFewerCharacters(value, minLength))
    return minLength === 1 ? `${path} must not be empty` : `${path} must not have fewer than ${minLength} characters`
  if (maxLength !== undefined && !hasFewerCharacters(value, maxLength + 1))
    return `${path} must not have more than ${maxLength} characters`
  if (format && !formats[format].test(value)) return `${path} must match format "${format}"`
  if (pattern && !pattern.test(value)) return `${path} must match pattern "${pattern.source}"`
  return undefined
}

/**
 * The length in code points. Most texts are decided by their length in UTF-16 units: a code point has one or two of
 * them.
 */
function hasFewerCharacters(text: string, count: number): boolean {
  if (text.length < count) return true
  return text.length < 2 * count && Array.from(text).length < count
}

export function findChoiceProblem(value: unknown, path: string, values: readonly string[]): Problem {
  if (value === undefined) return undefined
  if (typeof value !== 'string') return `${path} must be string`
  if (values.includes(value)) return undefined
  return `${path} must be equal to ${values.length === 1 ? 'constant' : 'one of the allowed values'}`
}

export function findIntegerProblem(value: unknown, path: string, minimum: number, maximum = Infinity): Problem {
  if (value === undefined) return undefined
  if (!Number.isInteger(value)) return `${path} must be integer`
  if (Number(value) < minimum) return `${path} must be >= ${minimum}`
  if (Number(value) > maximum) return `${path} must be <= ${maximum}`
  return undefined
}

export function findBooleanProblem(value: unknown, path: string): Problem {
  return value === undefined || typeof value === 'boolean' ? undefined : `${path} must be boolean`
}

export function findTextsProblem(value: unknown, path: string, maxItems: number, rule: TextRule): Problem {
  if (value === undefined) return undefined
  if (!Array.isArray(value)) return `${path} must be array`
  for (const [i, item] of value.entries()) {
    const problem = findTextProblem(item, `${path}/${i}`, rule)
    if (problem !== undefined) return problem
  }
  return value.length > maxItems ? `${path} must not have more than ${maxItems} items` : undefined
}
